import { BSON, Long, Timestamp, type Binary, type Document } from 'mongodb';
import { Type, type BsonValue } from '../../../shared/bson/value.ts';
import { buildDocument, elements, field, type ElementSlice } from '../../../shared/bson/walk.ts';

/** A change stream event, its documents and key still bytes. */
export interface StreamEvent {
  readonly token: Uint8Array;
  readonly op: string;
  readonly clusterTime: Timestamp;
  readonly wall: Date;
  readonly db: string | undefined;
  readonly collection: string | undefined;
  /** 16 bytes; schema events of views and databases have none. */
  readonly uuid: Uint8Array | undefined;
  readonly key: BsonValue | undefined;
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
  readonly updateDescription: Uint8Array | undefined;
  readonly operationDescription: Document | undefined;
  /** The same as bytes. */
  readonly description: Uint8Array | undefined;
  /** Where a rename leads. */
  readonly to: string | undefined;
  /** Session and number of a multi-document transaction. */
  readonly transaction: { readonly id: string; readonly uid: string } | undefined;
}

const utf8 = new TextDecoder();

/** Slices an event apart without decoding or copying the documents it carries: they are views into its bytes. */
export function parseEvent(bytes: Uint8Array): StreamEvent {
  const parts = new Map<string, ElementSlice>();
  for (const element of elements(bytes)) parts.set(element.name, element);
  const ns = subdocument(parts.get('ns'));
  const to = subdocument(parts.get('to'));
  const documentKey = subdocument(parts.get('documentKey'));
  const description = subdocument(parts.get('operationDescription'));
  return {
    token: subdocument(parts.get('_id')) ?? new Uint8Array(),
    op: text(parts.get('operationType')?.value) ?? 'unknown',
    clusterTime: timestamp(parts.get('clusterTime')?.value),
    wall: date(parts.get('wallTime')?.value),
    db: ns && text(field(ns, 'db')),
    collection: ns && text(field(ns, 'coll')),
    uuid: uuid(parts.get('collectionUUID')?.value),
    key: documentKey && field(documentKey, '_id'),
    before: subdocument(parts.get('fullDocumentBeforeChange')),
    after: idFirst(subdocument(parts.get('fullDocument'))),
    updateDescription: subdocument(parts.get('updateDescription')),
    operationDescription: description && BSON.deserialize(description),
    description,
    to: to && `${text(field(to, 'db'))}.${text(field(to, 'coll'))}`,
    transaction: transactionOf(parts),
  };
}

/** The server stores `_id` first, but tells a replacement as it was given (seen on 6.0.5). */
function idFirst(document: Uint8Array | undefined): Uint8Array | undefined {
  if (!document || startsWithId(document)) return document;
  const parts = elements(document);
  const id = parts.find(({ name }) => name === '_id');
  return id ? buildDocument([id, ...parts.filter((part) => part !== id)]) : document;
}

function startsWithId(document: Uint8Array): boolean {
  return document[5] === 0x5f && document[6] === 0x69 && document[7] === 0x64 && document[8] === 0;
}

/** The cluster time that a resume token stands for: its key string begins with a type byte and the timestamp. */
export function tokenTime(token: Uint8Array): Timestamp {
  const data = text(field(token, '_data')) ?? '';
  const t = Number.parseInt(data.slice(2, 10), 16);
  const i = Number.parseInt(data.slice(10, 18), 16);
  return new Timestamp({ t: Number.isNaN(t) ? 0 : t, i: Number.isNaN(i) ? 0 : i });
}

function transactionOf(parts: ReadonlyMap<string, ElementSlice>): StreamEvent['transaction'] {
  const lsid = subdocument(parts.get('lsid'));
  const number = parts.get('txnNumber')?.value;
  if (!lsid || !number) return undefined;
  const session = BSON.deserialize(lsid) as { id: Binary; uid: Binary };
  const txn = new DataView(number.buffer, number.byteOffset + 1).getBigInt64(0, true);
  return { id: `${session.id.toString('hex')}:${txn}`, uid: session.uid.toString('base64') };
}

function subdocument(slice: ElementSlice | undefined): Uint8Array | undefined {
  return slice?.type === Type.Object ? slice.bytes.subarray(slice.start, slice.end) : undefined;
}

function text(value: BsonValue | undefined): string | undefined {
  return value?.[0] === Type.String ? utf8.decode(value.subarray(5, value.length - 1)) : undefined;
}

function uuid(value: BsonValue | undefined): Uint8Array | undefined {
  return value?.[0] === Type.Binary ? value.slice(6, 22) : undefined;
}

function timestamp(value: BsonValue | undefined): Timestamp {
  if (value?.[0] !== Type.Timestamp) return new Timestamp({ t: 0, i: 0 });
  const view = new DataView(value.buffer, value.byteOffset + 1);
  return new Timestamp({ t: view.getUint32(4, true), i: view.getUint32(0, true) });
}

function date(value: BsonValue | undefined): Date {
  if (value?.[0] !== Type.Date) return new Date(0);
  const view = new DataView(value.buffer, value.byteOffset + 1);
  return new Date(Long.fromBits(view.getInt32(0, true), view.getInt32(4, true)).toNumber());
}

/** The tick before a cluster time: the last state that did not have its change. */
export function tickBefore(time: Timestamp): Timestamp {
  return time.i > 0 ? new Timestamp({ t: time.t, i: time.i - 1 }) : new Timestamp({ t: time.t - 1, i: 0xffffffff });
}
