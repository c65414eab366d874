import { promises as fs } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { EjsonError, EjsonReader } from '../../../shared/bson/ejson.ts';
import { type BsonValue, Type, typeName } from '../../../shared/bson/value.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import type { ImportTarget, Namespace } from './contract.ts';
import { BadGzip, filePieces, isMongodump } from './file-pieces.ts';
import type { ImportWriter } from './writer.ts';

/**
 * Imports a file of Extended JSON: an array of documents, one a line, or one after another; also gzipped, which is seen by
 * its first bytes, not by its name. It is read twice, in pieces: first to the end without writing, so that a mistake anywhere
 * in it leaves the branch untouched.
 *
 * Throws ForkyardError `import_parse` with the line, and `source_unreadable`.
 */
export async function importFile(
  file: string,
  ns: Namespace,
  target: ImportTarget,
  writer: ImportWriter,
): Promise<void> {
  const handle = await openFile(file);
  try {
    const before = await handle.stat();
    let total = 0;
    for await (const piece of read(handle, file, target, 'Reading')) total += piece.documents.length;
    const unchanged = await handle.stat();
    if (unchanged.size !== before.size || unchanged.mtimeMs !== before.mtimeMs) throw changed(file);

    const collection = writer.collection(ns, { bypassValidation: false, needsId: true, total });
    const onDuplicate = (name: string, line: number) =>
      writer.problem({
        ns: `${ns.db}.${ns.collection}`,
        line,
        message: `the name ${JSON.stringify(name)} occurs twice in one document; its last value was taken`,
      });
    for await (const { documents, lines } of read(handle, file, target, undefined, onDuplicate)) {
      for (const [index, document] of documents.entries()) await collection.add(document.subarray(1), lines[index]);
    }
    await collection.finish();
  } finally {
    await handle.close();
  }
}

interface Piece {
  readonly documents: readonly BsonValue[];
  /** Where each begins, from 1. */
  readonly lines: readonly number[];
}

/** The file's documents from its start, a piece at a time; `progress` is the word for it, where it is to be told. */
async function* read(
  handle: FileHandle,
  file: string,
  target: ImportTarget,
  progress?: string,
  onDuplicate?: (name: string, line: number) => void,
): AsyncGenerator<Piece> {
  const reader = new EjsonReader(onDuplicate);
  const { size } = await handle.stat();
  const text = new TextReader();
  let begun = false;
  try {
    for await (const { bytes, position } of filePieces(handle, target.signal)) {
      if (!begun && isMongodump(bytes)) throw mongodump(file);
      begun = true;
      yield documentsOf(reader, reader.push(text.next(bytes)));
      if (progress) target.onProgress({ text: `${progress} ${path.basename(file)}`, done: position, total: size });
    }
    yield documentsOf(reader, reader.push(text.end()));
    yield documentsOf(reader, reader.end());
  } catch (error) {
    if (target.signal.aborted)
      throw new ForkyardError('aborted', 'The import was cancelled; nothing had been imported.');
    if (error instanceof BadGzip) throw badGzip(file, error);
    if (error instanceof BadText) throw parseError(file, error.line, error.message);
    if (error instanceof EjsonError) throw parseError(file, error.line, error.message);
    throw error;
  }
}

function documentsOf(reader: EjsonReader, documents: readonly BsonValue[]): Piece {
  const { lines } = reader;
  for (const [index, value] of documents.entries()) {
    if (value[0] !== Type.Object)
      throw new EjsonError(`expected a document, found a ${typeName(value)}`, lines[index] ?? 1, 1);
  }
  return { documents, lines };
}

/** Bytes to text: UTF-8, or UTF-16 where the file begins with its mark. Counts lines to name bad bytes by. */
class TextReader {
  #decoder: TextDecoder | undefined;
  #line = 1;

  next(bytes: Buffer): string {
    this.#decoder ??= new TextDecoder(encodingOf(bytes), { fatal: true });
    return this.#decode(bytes, true);
  }

  end(): string {
    return this.#decoder ? this.#decode(Buffer.alloc(0), false) : '';
  }

  #decode(bytes: Buffer, stream: boolean): string {
    const decoder = this.#decoder!;
    try {
      const text = decoder.decode(bytes, { stream });
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#line += 1;
      return text;
    } catch {
      const good = new TextDecoder(decoder.encoding).decode(bytes).split('\ufffd', 1)[0] ?? '';
      throw new BadText(
        this.#line + good.split('\n').length - 1,
        `bytes that are no ${decoder.encoding.toUpperCase()}`,
      );
    }
  }
}

class BadText extends Error {
  constructor(
    readonly line: number,
    message: string,
  ) {
    super(message);
  }
}

function encodingOf(bytes: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
}

async function openFile(file: string): Promise<FileHandle> {
  let handle: FileHandle | undefined;
  try {
    handle = await fs.open(file, 'r');
    if ((await handle.stat()).isFile()) return handle;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reasons: Record<string, string> = { ENOENT: 'does not exist', EACCES: 'may not be read' };
    throw new ForkyardError('source_unreadable', `${file} ${reasons[code ?? ''] ?? `cannot be read: ${message}`}.`, {
      hint: 'Name a file that the user who runs Forkyard may read, by its whole path.',
    });
  }
  await handle.close();
  throw new ForkyardError('source_unreadable', `${file} is not a file.`, {
    hint: 'A folder is imported file by file.',
  });
}

function parseError(file: string, line: number, message: string): ForkyardError {
  return new ForkyardError('import_parse', `${path.basename(file)}, line ${line}: ${message.replace(/\.$/, '')}.`, {
    hint: 'Nothing was imported. A file holds Extended JSON: an array of documents, or one document a line.',
    details: { line },
  });
}

function badGzip(file: string, { endsEarly }: BadGzip): ForkyardError {
  const what = endsEarly ? 'ends before its gzip data does' : 'is gzipped, and its gzip data is damaged';
  return new ForkyardError('import_parse', `${path.basename(file)} ${what}.`, {
    hint: 'Nothing was imported. Copy or download the file once more; "gzip -t" says whether it is whole.',
  });
}

function mongodump(file: string): ForkyardError {
  return new ForkyardError(
    'import_parse',
    `${path.basename(file)} is an archive of mongodump, which Forkyard does not read.`,
    {
      hint: 'Nothing was imported. Import from the running MongoDB by its URI, or from files that mongoexport wrote.',
    },
  );
}

function changed(file: string): ForkyardError {
  return new ForkyardError('source_unreadable', `${file} was changed while it was being read; nothing was imported.`, {
    retry: true,
  });
}
