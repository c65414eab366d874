/** Reads JSON's tokens from a text and says in plain words what is wrong, and where. */
import { EjsonError, wordMessage } from './ejson-error.ts';

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

const numberShape = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;

/** Where a text begins in the file it is a part of; both from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

export class JsonCursor {
  constructor(
    readonly text: string,
    public pos: number,
    private readonly origin: TextPosition,
  ) {}

  /** The line and column of an offset. */
  positionOf(offset: number): TextPosition {
    let { line, column } = this.origin;
    let from = 0;
    for (;;) {
      const newline = this.text.indexOf('\n', from);
      if (newline < 0 || newline >= offset) break;
      line++;
      column = 1;
      from = newline + 1;
    }
    column += offset - from;
    return { line, column };
  }

  error(message: string, at = this.pos): EjsonError {
    const { line, column } = this.positionOf(at);
    return new EjsonError(message, line, column);
  }

  fail(message: string, at = this.pos): never {
    throw this.error(message, at);
  }

  /** The text ends inside a value. */
  failUnfinished(): never {
    const { line, column } = this.positionOf(this.text.length);
    throw new EjsonError('The text ends before its value is complete.', line, column, true);
  }

  /** Moves to the next character that is no white space and gives it; NaN at the end. */
  peek(): number {
    const { text } = this;
    let code = text.charCodeAt(this.pos);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt(++this.pos);
    return code;
  }

  /** Takes this character, after white space. `what` completes "Expected …". */
  take(code: number, what: string): void {
    const found = this.peek();
    if (found !== code) this.failExpected(what);
    this.pos++;
  }

  /** Names what stands at the cursor instead of what JSON wants there. */
  failExpected(what: string): never {
    const code = this.peek();
    if (Number.isNaN(code)) this.failUnfinished();
    const character = String.fromCodePoint(this.text.codePointAt(this.pos)!);
    if (character === "'") this.fail('JSON text and names stand in double quotes, not in single ones.');
    if (character === '/' && /^[/*]/.test(this.text.slice(this.pos + 1, this.pos + 2))) {
      this.fail('JSON has no comments.');
    }
    this.fail(`Expected ${what}, found ${character}.`);
  }

  /** A word where a value should be: shell syntax, an unquoted text, a constant of another language. */
  failWord(): never {
    const word = /[\p{L}_$][\p{L}\p{N}_$.]*/uy;
    word.lastIndex = this.pos;
    const found = word.exec(this.text)?.[0];
    if (found === undefined) this.failExpected('a value');
    const after = this.pos + found.length;
    if (after >= this.text.length) this.failUnfinished();
    if (found === 'new') {
      const start = this.pos;
      this.pos = after;
      this.peek();
      word.lastIndex = this.pos;
      const name = word.exec(this.text)?.[0] ?? found;
      this.fail(wordMessage(name, true), start);
    }
    this.fail(wordMessage(found, this.text[after] === '('));
  }

  /** Something other than a quoted name where a name should be. */
  failName(): never {
    const word = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
    this.peek();
    word.lastIndex = this.pos;
    const found = word.exec(this.text)?.[0];
    if (found !== undefined) this.fail(`The field name ${found} must stand in double quotes in a JSON file.`);
    this.failExpected('a field name in double quotes');
  }

  /** The string at the cursor, whose quote comes next after white space. `what` completes "Expected …". */
  string(what: string): string {
    this.take(0x22, what);
    const { text } = this;
    let decoded = '';
    let from = this.pos;
    for (;;) {
      const code = text.charCodeAt(this.pos);
      if (code === 0x22) {
        decoded += text.slice(from, this.pos++);
        return decoded;
      }
      if (code === 0x5c) {
        decoded += text.slice(from, this.pos);
        decoded += this.escape();
        from = this.pos;
      } else if (code >= 0x20) this.pos++;
      else this.failInString(code);
    }
  }

  /** The character that the escape at the cursor stands for. */
  escape(): string {
    const letter = this.text[this.pos + 1];
    if (letter === undefined) this.failUnfinished();
    if (letter === 'u') {
      const digits = this.text.slice(this.pos + 2, this.pos + 6);
      if (digits.length < 4 && this.pos + 6 > this.text.length) this.failUnfinished();
      if (!/^[0-9A-Fa-f]{4}$/.test(digits)) this.fail('\\u needs four hexadecimal digits after it.');
      this.pos += 6;
      return String.fromCharCode(parseInt(digits, 16));
    }
    const character = Object.hasOwn(escapes, letter) ? escapes[letter]! : undefined;
    if (character === undefined) this.fail(`JSON has no escape \\${letter}.`);
    this.pos += 2;
    return character;
  }

  /** A character that may not stand in a string as it is, or the end of the text. */
  failInString(code: number): never {
    if (Number.isNaN(code)) this.failUnfinished();
    if (code === 0x0a || code === 0x0d) this.fail('A text in quotes does not end on its line.');
    this.fail('A control character in a text must be written as \\u and four digits.');
  }

  /** The digits, sign, dot and exponent of the JSON number at the cursor. */
  number(): { readonly text: string; readonly whole: boolean } {
    numberShape.lastIndex = this.pos;
    const found = numberShape.exec(this.text);
    if (found === null) {
      if (this.pos + 1 >= this.text.length) this.failUnfinished();
      this.failWordAfterSign();
    }
    const after = this.text.charCodeAt(this.pos + found[0].length);
    // 0x5d and 0x7d close; a dot, a letter or another digit make it no JSON number.
    if (!(Number.isNaN(after) || after <= 0x20 || after === 0x2c || after === 0x5d || after === 0x7d)) {
      this.fail(`${this.text.slice(this.pos).match(/^[^\s,\]}]{1,40}/)?.[0] ?? found[0]} is no JSON number.`);
    }
    this.pos += found[0].length;
    return { text: found[0], whole: found[1] === undefined && found[2] === undefined };
  }

  private failWordAfterSign(): never {
    const infinity = /-Infinity/y;
    infinity.lastIndex = this.pos;
    if (infinity.test(this.text)) {
      this.fail('-Infinity is no JSON value; in a JSON file write {"$numberDouble": "-Infinity"}.');
    }
    this.fail('A minus needs digits after it.');
  }
}
