import { BSON, Binary } from 'mongodb';
import { documentBytes, documentValue } from '../../../shared/bson/value.ts';
import { buildDocument, elements, field, rawElement } from '../../../shared/bson/walk.ts';
import { rawFind } from '../mongod/raw.ts';
import type { Home } from './home.ts';
import type { ChangeRecord } from './records.ts';

/** A change of collections, views, indexes or options, with what the server says of it as bytes. */
export interface SchemaEvent {
  readonly seq: number;
  readonly op: string;
  /** Of a whole database: its name alone. */
  readonly ns: string;
  /** 16 bytes; views and databases have none. */
  readonly uuid: Uint8Array | undefined;
  readonly description: Uint8Array;
}

/** Kept apart from the changes: so what the schema was at a moment is found without reading through them. */
export function schemaEventsOf(branchId: string): string {
  return `schema_${branchId}`;
}

export function encodeSchemaEvent(change: ChangeRecord, description: Uint8Array): Uint8Array {
  const meta = {
    _id: change.seq,
    o: change.op,
    n: change.ns ?? '',
    ...(change.uuid ? { u: new Binary(change.uuid, 4) } : {}),
  };
  return buildDocument([...elements(BSON.serialize(meta)), rawElement('e', documentValue(description))]);
}

/** A branch's schema events up to a sequence, oldest first. */
export async function* schemaEvents(home: Home, branchId: string, upTo: number): AsyncGenerator<SchemaEvent> {
  const query = { collection: schemaEventsOf(branchId), filter: { _id: { $lte: upTo } }, sort: { _id: 1 } };
  for await (const batch of rawFind(home.history, query)) {
    for (const bytes of batch) {
      const parts = elements(bytes);
      const row = BSON.deserialize(buildDocument(parts.filter(({ name }) => name !== 'e'))) as {
        _id: number;
        o: string;
        n: string;
        u?: Binary;
      };
      const description = field(bytes, 'e');
      yield {
        seq: row._id,
        op: row.o,
        ns: row.n,
        uuid: row.u?.buffer,
        description: description ? documentBytes(description) : buildDocument([]),
      };
    }
  }
}
