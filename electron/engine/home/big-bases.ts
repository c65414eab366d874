import { createHash } from 'node:crypto';
import { Binary, MongoServerError, type Collection } from 'mongodb';
import type { DecodedTouched } from './encode.ts';
import type { BaseOverride, TouchedRecord } from './records.ts';
import { cutIntoPieces, inlineBytes } from './spilled.ts';

const duplicateKey = 11_000;

/** A base as a touched row holds it: the document, or which pieces it is in; with neither it does not exist. */
export interface BaseRow {
  d?: Binary;
  /** SHA-256 of the document, hex. */
  h?: string;
}

interface PieceRow {
  /** The document's SHA-256, hex, and the piece's number. */
  _id: string;
  bytes: Binary;
}

/**
 * Bases that fit no row, in pieces named by what they hold: a base that moves and moves back is stored once, and a reader
 * that has the row still finds the pieces when the base has moved on. They go with the branch's history.
 */
export class BigBases {
  private readonly pieces: Collection<PieceRow>;

  constructor(pieces: Collection) {
    this.pieces = pieces as unknown as Collection<PieceRow>;
  }

  /** What the row is to hold; the pieces of a base that does not fit there are stored by then. */
  async store({ document }: BaseOverride): Promise<BaseRow> {
    if (!document) return {};
    if (document.length <= inlineBytes) return { d: new Binary(document) };
    const hash = createHash('sha256').update(document).digest('hex');
    for (const [n, piece] of cutIntoPieces(document).entries()) {
      await this.pieces.insertOne({ _id: `${hash}/${n}`, bytes: new Binary(piece) }).catch((error: unknown) => {
        if (!(error instanceof MongoServerError && error.code === duplicateKey)) throw error;
      });
    }
    return { h: hash };
  }

  /** Puts bases that are stored in pieces back in place. */
  async whole(rows: readonly DecodedTouched[]): Promise<TouchedRecord[]> {
    return Promise.all(
      rows.map(async ({ baseHash, ...row }) =>
        baseHash === undefined ? row : { ...row, base: { document: await this.read(baseHash) } },
      ),
    );
  }

  private async read(hash: string): Promise<Uint8Array> {
    const found = await this.pieces
      .find({ _id: { $gte: `${hash}/`, $lt: `${hash}0` } }, { sort: { _id: 1 } })
      .toArray();
    const document = Buffer.concat(found.map(({ bytes }) => bytes.buffer));
    if (createHash('sha256').update(document).digest('hex') !== hash)
      throw new Error(`home lacks pieces of base ${hash}`);
    return document;
  }
}
