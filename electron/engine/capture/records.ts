import { EJSON } from 'bson';
import { buildDocument } from '../../../shared/bson/walk.ts';
import type { ChangeRecord } from '../home/records.ts';
import { isAside } from '../mongod/aside.ts';
import type { StreamEvent } from './event.ts';
import type { Images } from './images.ts';

const documentOps = new Set(['insert', 'update', 'replace', 'delete']);

export function isDocumentOp(op: string): boolean {
  return documentOps.has(op);
}

const buckets = 'system.buckets.';

/** A write to a time-series collection comes as one to its buckets, each of which holds many measurements. */
export function timeSeriesNamespace(event: StreamEvent): string | undefined {
  if (!isDocumentOp(event.op) || !event.collection?.startsWith(buckets)) return undefined;
  return `${event.db}.${event.collection.slice(buckets.length)}`;
}

/** What the server does for itself, and the engine's own switch, are no changes of the user's. */
export function isNoise(event: StreamEvent): boolean {
  if (event.db === undefined || event.db === 'admin' || event.db === 'config' || event.db === 'local') return true;
  if (isDocumentOp(event.op) && event.collection?.startsWith('system.')) {
    return event.collection !== 'system.js' && timeSeriesNamespace(event) === undefined;
  }
  // It leaves, and comes back, as it was: that its documents were written there is nobody's change of them.
  if (isDocumentOp(event.op) && isAside(event.collection)) return true;
  return event.op === 'modify' && onlyImages(event);
}

function onlyImages(event: StreamEvent): boolean {
  const keys = Object.keys(event.operationDescription ?? {});
  return keys.length > 0 && keys.every((key) => key === 'changeStreamPreAndPostImages');
}

/** True where somebody switched a collection's images off. */
export function switchesImagesOff(event: StreamEvent): boolean {
  const setting = event.operationDescription?.['changeStreamPreAndPostImages'] as { enabled?: boolean } | undefined;
  return event.op === 'modify' && setting?.enabled === false;
}

/** Attribution of one event: a name, several candidates, or nothing. */
export type Attribution = { readonly actor: string } | { readonly actors: readonly string[] } | Record<string, never>;

export function toRecord(event: StreamEvent, images: Images, seq: number, attribution: Attribution): ChangeRecord {
  const series = timeSeriesNamespace(event);
  const ns = series ?? (event.collection === undefined ? event.db : `${event.db}.${event.collection}`);
  const detail = detailOf(event, series !== undefined);
  return {
    seq,
    clusterTime: event.clusterTime,
    wall: event.wall,
    op: event.op,
    ...(ns === undefined ? {} : { ns }),
    ...(event.uuid ? { uuid: event.uuid } : {}),
    ...(event.key ? { key: event.key } : {}),
    ...(images.before ? { before: images.before } : {}),
    ...(images.after ? { after: images.after } : {}),
    ...(event.transaction ? { transaction: event.transaction.id } : {}),
    ...attribution,
    ...(images.folded ? { folded: true } : {}),
    ...(detail ? { detail } : {}),
    ...(isDocumentOp(event.op) ? {} : { schema: event.description ?? noDescription }),
  };
}

const noDescription = buildDocument([]);

function detailOf(event: StreamEvent, series: boolean): Record<string, unknown> | undefined {
  if (series) return { timeSeries: true };
  if (event.to !== undefined) return { ...(EJSON.serialize(event.operationDescription ?? {}) as object), to: event.to };
  return event.operationDescription
    ? (EJSON.serialize(event.operationDescription) as Record<string, unknown>)
    : undefined;
}
