import { BSON, Binary, type Timestamp } from 'mongodb';
import { elements, rawElement, buildDocument } from '../../../shared/bson/walk.ts';
import { documentBytes, documentValue, type BsonValue } from '../../../shared/bson/value.ts';
import type { ChangeRecord, TouchedRecord } from './records.ts';

/** Images above this go to pieces of their own: a document of home, like any other, ends at 16 MB. */
const inlineBytes = 12 * 1024 * 1024;

export interface EncodedChange {
  readonly document: Uint8Array;
  /** Images that did not fit, to be stored beside the change. */
  readonly spilled: { readonly side: 'before' | 'after'; readonly bytes: Uint8Array }[];
}

/** A change as home stores it. Short names: home's bytes are the bottleneck of capture. */
export function encodeChange(change: ChangeRecord): EncodedChange {
  const meta: Record<string, unknown> = { _id: change.seq, t: change.clusterTime, w: change.wall, o: change.op };
  if (change.ns !== undefined) meta['n'] = change.ns;
  if (change.uuid) meta['u'] = new Binary(change.uuid, 4);
  if (change.transaction !== undefined) meta['x'] = change.transaction;
  if (change.actor !== undefined) meta['c'] = change.actor;
  else if (change.actors) meta['c'] = change.actors;
  if (change.folded) meta['f'] = true;
  if (change.detail) meta['d'] = change.detail;
  const { before, after } = change;
  const fits = (before?.length ?? 0) + (after?.length ?? 0) <= inlineBytes;
  const spilled: EncodedChange['spilled'] = [];
  if (!fits) {
    if (before) spilled.push({ side: 'before', bytes: before });
    if (after) spilled.push({ side: 'after', bytes: after });
    meta['s'] = spilled.map(({ side }) => side);
  }
  const raw: [string, BsonValue][] = [];
  if (change.key) raw.push(['k', change.key]);
  if (before && fits) raw.push(['b', documentValue(before)]);
  if (after && fits) raw.push(['a', documentValue(after)]);
  return { document: withElements(BSON.serialize(meta), raw), spilled };
}

/** Adds raw elements at the end of a document. */
function withElements(document: Uint8Array, raw: readonly [string, BsonValue][]): Uint8Array {
  if (raw.length === 0) return document;
  return buildDocument([...elements(document), ...raw.map(([name, value]) => rawElement(name, value))]);
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
    if (element.name === 'k') key = element.value;
    else if (element.name === 'b') before = documentBytes(element.value);
    else if (element.name === 'a') after = documentBytes(element.value);
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

export function decodeTouched(bytes: Uint8Array): TouchedRecord {
  const row = BSON.deserialize(bytes) as {
    _id: Binary;
    u: Binary;
    k: Binary;
    f: number;
    l: number;
    bs?: { d?: Binary };
  };
  return {
    id: row._id.buffer,
    uuid: row.u.buffer,
    key: row.k.buffer,
    first: row.f,
    last: row.l,
    ...(row.bs ? { base: { document: row.bs.d?.buffer } } : {}),
  };
}
