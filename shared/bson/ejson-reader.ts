/** Documents from a stream of Extended JSON text, chunk by chunk. */
import { ByteWriter } from './byte-writer.ts';
import { EjsonError, type OnDuplicate } from './ejson-error.ts';
import { EjsonParser } from './ejson-parser.ts';
import type { TextPosition } from './json-cursor.ts';
import { type BsonValue, Type } from './value.ts';

/** The canonical text of the largest document (16 MB of numbers) is about 40 million characters. */
const longestDocument = 64 * 1024 * 1024;

/**
 * Reads one array of documents, one document a line, or documents one after another, pretty-printed or not; a byte order
 * mark, CRLF and blank lines are fine. It keeps no more text than the document that is not complete yet.
 *
 * Documents before a mistake are given first; the call after that throws the {@link EjsonError}. Only `end`, which has no call
 * after it, throws at once.
 */
export class EjsonReader {
  /** The line (from 1) the reader has come to. */
  line = 1;
  /** The first line of each document that the last `push` or `end` gave. */
  lines: readonly number[] = [];

  private column = 1;
  private pending = '';
  private atStart = true;
  private inArray = false;
  /** What comes next: a document or the array of all, the array's first document or end, a document, a comma, no more. */
  private expects: 'anything' | 'first' | 'document' | 'comma' | 'nothing' = 'anything';
  /** The pending text is a document's beginning; it is read again when it has grown to this length. */
  private retryAt = 0;
  private failure: EjsonError | undefined;
  private readonly out = new ByteWriter();

  constructor(private readonly onDuplicate?: OnDuplicate) {}

  /** The documents that are complete with this chunk. Throws {@link EjsonError}. */
  push(chunk: string): BsonValue[] {
    return this.read(chunk, false);
  }

  /** The text is over: the documents that were still pending. Throws {@link EjsonError} where something is missing. */
  end(): BsonValue[] {
    return this.read('', true);
  }

  private read(chunk: string, last: boolean): BsonValue[] {
    if (this.failure !== undefined) throw this.failure;
    this.lines = [];
    this.pending += chunk;
    if (!last && this.pending.length < this.retryAt) return [];
    const documents: BsonValue[] = [];
    const lines: number[] = [];
    try {
      this.readPending(documents, lines, last);
    } catch (error) {
      if (!(error instanceof EjsonError)) throw error;
      this.failure = error;
      if (documents.length === 0 || last) throw error;
    }
    this.lines = lines;
    return documents;
  }

  private readPending(documents: BsonValue[], lines: number[], last: boolean): void {
    const parser = new EjsonParser(this.pending, 0, { line: this.line, column: this.column }, this.out);
    if (this.atStart && this.pending !== '') {
      this.atStart = false;
      if (this.pending.charCodeAt(0) === 0xfeff) parser.pos = 1;
    }
    const position = new RunningPosition(this.pending, this.line, this.column);
    try {
      while (this.separator(parser)) {
        const at = parser.pos;
        const { line } = position.moveTo(at);
        const document = this.document(parser, last, line);
        if (document === undefined) {
          parser.pos = at;
          break;
        }
        documents.push(document);
        lines.push(line);
        this.expects = this.inArray ? 'comma' : 'document';
      }
      if (last) this.finish(parser);
    } finally {
      const { line, column } = position.moveTo(parser.pos);
      this.line = line;
      this.column = column;
      this.pending = this.pending.slice(parser.pos);
    }
  }

  /** Moves to the next document; false where the pending text has none. */
  private separator(parser: EjsonParser): boolean {
    for (;;) {
      const code = parser.peek();
      if (Number.isNaN(code)) return false;
      if (this.expects === 'nothing') parser.failExpected('nothing after the end of the array');
      if (this.expects === 'comma' || (this.expects === 'first' && code === 0x5d)) {
        if (code === 0x2c) this.expects = 'document';
        else if (code === 0x5d) this.expects = 'nothing';
        else parser.failExpected('a comma or the end of the array');
        parser.pos++;
      } else if (code === 0x7b) return true;
      else if (code === 0x5b && this.expects === 'anything') {
        this.inArray = true;
        this.expects = 'first';
        parser.pos++;
      } else this.failNoDocument(parser, code);
    }
  }

  private failNoDocument(parser: EjsonParser, code: number): never {
    if (code === 0x5d && this.inArray) parser.fail('The comma before ] has no document after it.');
    if (code === 0x2c) parser.fail('A comma stands where a document should begin.');
    if (code === 0x2f || code === 0x27) parser.failExpected('a document');
    const found = /[^\s,{}[\]]{0,40}/y;
    found.lastIndex = parser.pos;
    const text = found.exec(parser.text)?.[0] ?? '';
    parser.fail(`Expected a document, which begins with {, found ${text === '' ? parser.text[parser.pos] : text}.`);
  }

  /** The document at the cursor, or undefined where its end has not come yet. */
  private document(parser: EjsonParser, last: boolean, line: number): BsonValue | undefined {
    const at = parser.pos;
    let value: BsonValue;
    try {
      value = parser.read();
    } catch (error) {
      if (!(error instanceof EjsonError) || !error.unfinished) throw error;
      if (last) {
        throw new EjsonError(`The document that begins on line ${line} is not complete.`, error.line, error.column);
      }
      const length = parser.text.length - at;
      if (length > longestDocument) parser.fail('The document that begins here does not end within 64 MB.', at);
      parser.forgetDuplicates();
      this.retryAt = length * 2;
      return undefined;
    }
    this.retryAt = 0;
    if (value[0] !== Type.Object) parser.fail('Expected a document, found a value that is none.', at);
    parser.report(this.onDuplicate);
    parser.forgetDuplicates();
    return value;
  }

  private finish(parser: EjsonParser): void {
    if (this.inArray && this.expects !== 'nothing') parser.fail('The array of documents does not end with ].');
  }
}

/** Line and column of an offset that only moves forward. */
class RunningPosition {
  private offset = 0;

  constructor(
    private readonly text: string,
    private line: number,
    private column: number,
  ) {}

  moveTo(offset: number): TextPosition {
    let newline = this.text.indexOf('\n', this.offset);
    while (newline >= 0 && newline < offset) {
      this.line++;
      this.column = 1;
      this.offset = newline + 1;
      newline = this.text.indexOf('\n', this.offset);
    }
    this.column += Math.max(0, offset - this.offset);
    this.offset = Math.max(this.offset, offset);
    return { line: this.line, column: this.column };
  }
}
