import { toBase64, Type, type BsonValue } from '../../../shared/bson/value.ts';
import { elements, field } from '../../../shared/bson/walk.ts';

/** What became of the measurements of one bucket. One that was changed counts once. */
export interface MeasurementCounts {
  readonly added: number;
  readonly modified: number;
  readonly removed: number;
}

/**
 * What a branch changed of a bucket of a time-series collection, in measurements: those that are alike on both sides, byte for
 * byte and with the same meta field, are unchanged, wherever in the bucket they stand. Of what differs, one that went and
 * one that came are one that was changed. The measurements of a compressed bucket are not told apart: where such a bucket
 * differs, all of them count.
 */
export function measurementDelta(sides: {
  readonly base?: Uint8Array | undefined;
  readonly branch?: Uint8Array | undefined;
}): MeasurementCounts {
  const { gone, come } = unmatched(sides.base && read(sides.base), sides.branch && read(sides.branch));
  const modified = Math.min(gone, come);
  if (gone === 0 && come === 0) return { added: 0, modified: 1, removed: 0 };
  return { added: come - modified, modified, removed: gone - modified };
}

interface Bucket {
  readonly count: number;
  /** How often each measurement stands in it, by its bytes; undefined where it is compressed. */
  readonly measurements: ReadonlyMap<string, number> | undefined;
}

function unmatched(a: Bucket | undefined, b: Bucket | undefined): { gone: number; come: number } {
  if (!a?.measurements || !b?.measurements) return { gone: a?.count ?? 0, come: b?.count ?? 0 };
  let same = 0;
  for (const [text, times] of a.measurements) same += Math.min(times, b.measurements.get(text) ?? 0);
  return { gone: a.count - same, come: b.count - same };
}

/** Version 1 keeps a document per field, `{"0": value, "2": value}`; later ones compress them and tell their number. */
function read(bucket: Uint8Array): Bucket {
  const meta = field(bucket, 'meta');
  // Which column came first differs between buckets that hold the same.
  const data = parts(field(bucket, 'data')).sort((a, b) => (a.name < b.name ? -1 : 1));
  const told = wholeNumber(parts(field(bucket, 'control')).find(({ name }) => name === 'count')?.value);
  if (told !== undefined) return { count: told, measurements: undefined };
  const texts: string[] = [];
  for (const { name, value } of data) {
    const column = JSON.stringify(name);
    for (const each of parts(value)) {
      const at = Number(each.name);
      texts[at] = `${texts[at] ?? (meta ? toBase64(meta) : '')} ${column}:${toBase64(each.value)}`;
    }
  }
  const measurements = new Map<string, number>();
  for (const text of texts) measurements.set(text, (measurements.get(text) ?? 0) + 1);
  return { count: texts.length, measurements };
}

function parts(value: BsonValue | undefined): { readonly name: string; readonly value: BsonValue }[] {
  return value?.[0] === Type.Object ? elements(value.subarray(1)) : [];
}

function wholeNumber(value: BsonValue | undefined): number | undefined {
  if (value?.[0] !== Type.Int32) return undefined;
  return new DataView(value.buffer, value.byteOffset + 1).getInt32(0, true);
}
