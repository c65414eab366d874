import { BSON, Binary, type Timestamp } from 'mongodb';
import { buildDocument, elements, type ElementSlice } from '../../../shared/bson/walk.ts';
import { Type, type BsonValue } from '../../../shared/bson/value.ts';
import type { BaseRow } from './big-bases.ts';
import type { ChangeRecord, TouchedRecord } from './records.ts';
import { inlineBytes } from './spilled.ts';
import { keyFrom, storedKey } from './stored-key.ts';

export interface EncodedChange {
  readonly seq: number;
  readonly document: Uint8Array;
  /** Images that did not fit, to be stored beside the change. */
  readonly spilled: { readonly side: 'before' | 'after'; readonly bytes: Uint8Array }[];
}

/**
 * A change as home stores it, with the resume token where it is the last of its batch. Short names: home's bytes are the
 * bottleneck of capture.
 */
export function encodeChange(change: ChangeRecord, resumeToken?: Uint8Array): EncodedChange {
  const meta: Record<string, unknown> = { _id: change.seq, t: change.clusterTime, w: change.wall, o: change.op };
  if (change.ns !== undefined) meta['n'] = change.ns;
  if (change.uuid) meta['u'] = new Binary(change.uuid, 4);
  if (change.transaction !== undefined) meta['x'] = change.transaction;
  if (change.actor !== undefined) meta['c'] = change.actor;
  else if (change.actors) meta['c'] = change.actors;
  if (change.folded) meta['f'] = true;
  if (change.detail) meta['d'] = change.detail;
  if (resumeToken) meta['r'] = new Binary(resumeToken);
  const { before, after } = change;
  const fits = (before?.length ?? 0) + (after?.length ?? 0) <= inlineBytes;
  const spilled: EncodedChange['spilled'] = [];
  if (!fits) {
    if (before) spilled.push({ side: 'before', bytes: before });
    if (after) spilled.push({ side: 'after', bytes: after });
    meta['s'] = spilled.map(({ side }) => side);
  }
  const raw: RawPart[] = [];
  const key = change.key && storedKey(change.key);
  if (key) raw.push({ name: 'k', type: key[0]!, payload: key.subarray(1) });
  if (before && fits) raw.push({ name: 'b', type: Type.Object, payload: before });
  if (after && fits) raw.push({ name: 'a', type: Type.Object, payload: after });
  return { seq: change.seq, document: withParts(BSON.serialize(meta), raw), spilled };
}

interface RawPart {
  /** One ASCII letter. */
  readonly name: string;
  readonly type: number;
  readonly payload: Uint8Array;
}

/** Adds raw elements at the end of a document, in one buffer: this runs for every captured change. */
function withParts(document: Uint8Array, parts: readonly RawPart[]): Uint8Array {
  const length = parts.reduce((sum, { payload }) => sum + payload.length + 3, document.length);
  const whole = Buffer.allocUnsafe(length);
  whole.set(document.subarray(0, -1));
  let at = document.length - 1;
  for (const { name, type, payload } of parts) {
    whole[at] = type;
    whole[at + 1] = name.charCodeAt(0);
    whole[at + 2] = 0;
    whole.set(payload, at + 3);
    at += payload.length + 3;
  }
  whole[at] = 0;
  whole.writeInt32LE(length, 0);
  return whole;
}

export interface DecodedChange extends ChangeRecord {
  /** Sides whose image is stored in pieces. */
  readonly spilledSides: readonly string[];
}

export function decodeChange(bytes: Uint8Array): DecodedChange {
  const metaParts = [];
  let key: BsonValue | undefined;
  let before: Uint8Array | undefined;
  let after: Uint8Array | undefined;
  for (const element of elements(bytes)) {
    if (element.name === 'k') key = keyFrom(element.value);
    else if (element.name === 'b') before = inPlace(element);
    else if (element.name === 'a') after = inPlace(element);
    else metaParts.push(element);
  }
  const meta = BSON.deserialize(buildDocument(metaParts)) as {
    _id: number;
    t: Timestamp;
    w: Date;
    o: string;
    n?: string;
    u?: Binary;
    x?: string;
    c?: string | string[];
    f?: boolean;
    s?: string[];
    d?: Record<string, unknown>;
  };
  return {
    seq: meta._id,
    clusterTime: meta.t,
    wall: meta.w,
    op: meta.o,
    ...(meta.n === undefined ? {} : { ns: meta.n }),
    ...(meta.u === undefined ? {} : { uuid: meta.u.buffer }),
    ...(key === undefined ? {} : { key }),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    ...(meta.x === undefined ? {} : { transaction: meta.x }),
    ...(typeof meta.c === 'string' ? { actor: meta.c } : meta.c ? { actors: meta.c } : {}),
    ...(meta.f ? { folded: true } : {}),
    ...(meta.d ? { detail: meta.d } : {}),
    spilledSides: meta.s ?? [],
  };
}

/** A document inside a larger one, where it stands: images are most of what is read, and none is kept for long. */
function inPlace({ bytes, start, end }: ElementSlice): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start);
}

export interface DecodedTouched extends TouchedRecord {
  /** The base is stored in pieces, under this SHA-256; `base` is left out then. */
  readonly baseHash?: string;
}

export function decodeTouched(bytes: Uint8Array): DecodedTouched {
  const row = BSON.deserialize(bytes) as {
    _id: Binary;
    u: Binary;
    k: Binary;
    f: number;
    l: number;
    bs?: BaseRow;
    im?: number[];
  };
  return {
    id: row._id.buffer,
    uuid: row.u.buffer,
    key: row.k.buffer,
    first: row.f,
    last: row.l,
    ...(row.bs?.h !== undefined ? { baseHash: row.bs.h } : row.bs ? { base: { document: row.bs.d?.buffer } } : {}),
    ...(row.im ? { imports: row.im } : {}),
  };
}
