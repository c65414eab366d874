import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

interface FilePiece {
  /** Of the content; overwritten when the next piece is asked for. */
  readonly bytes: Buffer;
  /** How far into the file this is, in bytes of the file itself. */
  readonly position: number;
}

const pieceBytes = 1024 * 1024;

/** The gzip data of a file is damaged, or is cut off. */
export class BadGzip extends Error {
  constructor(readonly endsEarly: boolean) {
    super('gzip data cannot be read');
  }
}

/**
 * A file's content from its start in pieces of at most 1 MiB; where it is gzipped, also in several members as `cat a.gz b.gz`
 * makes it, what is in it. Throws BadGzip, and what `signal` was aborted with.
 */
export async function* filePieces(handle: FileHandle, signal: AbortSignal): AsyncGenerator<FilePiece> {
  const { buffer: head, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
  if (bytesRead === 2 && head.readUInt16BE() === gzipMagic) yield* unzipped(handle, signal);
  else yield* plain(handle, signal, Buffer.allocUnsafe(pieceBytes));
}

const gzipMagic = 0x1f8b;

async function* plain(handle: FileHandle, signal: AbortSignal, buffer?: Buffer): AsyncGenerator<FilePiece> {
  for (let position = 0; ;) {
    signal.throwIfAborted();
    const into = buffer ?? Buffer.allocUnsafe(pieceBytes);
    const { bytesRead } = await handle.read(into, 0, pieceBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield { bytes: into.subarray(0, bytesRead), position };
  }
}

async function* unzipped(handle: FileHandle, signal: AbortSignal): AsyncGenerator<FilePiece> {
  let position = 0;
  const packed = async function* (): AsyncGenerator<Buffer> {
    // A stream holds what it was given until it comes to it: no buffer twice.
    for await (const piece of plain(handle, signal)) {
      position = piece.position;
      yield piece.bytes;
    }
  };
  const source = Readable.from(packed(), { objectMode: true, highWaterMark: 1 });
  const gunzip = createGunzip({ chunkSize: pieceBytes });
  source.once('error', (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  try {
    for await (const bytes of gunzip as AsyncIterable<Buffer>) {
      signal.throwIfAborted();
      yield { bytes, position };
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw code.startsWith('Z_') ? new BadGzip(code === 'Z_BUF_ERROR') : error;
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

/** What an archive of mongodump begins with: 0x8199e26d, little-endian (mongo-tools, common/archive). */
const mongodumpMagic = Buffer.from([0x6d, 0xe2, 0x99, 0x81]);

export function isMongodump(start: Buffer): boolean {
  return start.subarray(0, mongodumpMagic.length).equals(mongodumpMagic);
}
