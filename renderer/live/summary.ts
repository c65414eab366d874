import type { Change } from '../../shared/api.ts';
import { diffDocument } from '../../shared/changes/delta.ts';
import { documentBytes, fromBase64, Type, typeName } from '../../shared/bson/value.ts';
import { elementsOf, valueSlice } from '../../shared/bson/walk.ts';
import { fieldCount, pathText, plainText, titleOf } from '../bson/plain.ts';
import { count, plural } from '../shell/numbers.ts';

/** One field as the feed shows it. */
export interface FieldText {
  readonly path: string;
  /** Left out where the field was added. */
  readonly before?: string;
  /** Left out where it was removed. */
  readonly after?: string;
  /** The two types, where they differ. */
  readonly types?: readonly [string, string];
  readonly order?: boolean;
}

/** What a change says of itself in one line. */
export interface Summary {
  /** In words, before the fields: "removed, 11 fields". */
  readonly words?: string;
  readonly fields: readonly FieldText[];
}

/** Characters of base64 beyond which a row does not wait for a comparison; the detail makes it beside the window's thread. */
const longestCompared = 1_000_000;

const cache = new WeakMap<Change, Summary>();

/** Worked out once for a change, when it is first shown. */
export function summaryOf(change: Change): Summary {
  const known = cache.get(change);
  if (known !== undefined) return known;
  const summary = summarise(change);
  cache.set(change, summary);
  return summary;
}

/** Everything of a change that the text filter looks at. */
export function searchText(change: Change): string {
  const { words = '', fields } = summaryOf(change);
  const id = change.id === undefined ? '' : plainText(fromBase64(change.id));
  const texts = fields.map((field) => `${field.path} ${field.before ?? ''} ${field.after ?? ''}`);
  return [change.ns ?? '', id, words, ...texts].join(' ');
}

/** The title of the document a change is about. */
export function changeTitle(change: Change): string | undefined {
  const image = change.after ?? change.before;
  return image === undefined ? undefined : titleOf(fromBase64(image));
}

function summarise(change: Change): Summary {
  if (change.detail?.['timeSeries'] === true) return { words: measurementWords(change), fields: [] };
  switch (change.op) {
    case 'insert':
      return change.after === undefined ? { fields: [] } : { fields: leadingFields(fromBase64(change.after)) };
    case 'delete':
      return { words: removedWords(change), fields: [] };
    case 'update':
    case 'replace':
      return editSummary(change);
    case 'import':
      return { words: importWords(change), fields: [] };
    default:
      return { words: schemaWords(change), fields: [] };
  }
}

/** Of a bucket the history has no images of each step. */
function measurementWords({ op }: Change): string {
  if (op === 'insert') return 'a new bucket of measurements, compared in Review';
  if (op === 'delete') return 'a bucket of measurements removed, compared in Review';
  return 'measurements of a bucket written, compared in Review';
}

function editSummary(change: Change): Summary {
  if (change.before === undefined || change.after === undefined) {
    return { words: change.before === undefined ? 'before not known' : 'after not known', fields: [] };
  }
  const size = change.before.length + change.after.length;
  if (size > longestCompared)
    return { words: `large document, ${count(Math.round((size * 3) / 8 / 1_000))} KB`, fields: [] };
  const delta = diffDocument(documentBytes(fromBase64(change.before)), documentBytes(fromBase64(change.after)));
  return {
    fields: delta.fields.map((field) => {
      const [before, after] = [field.base, field.branch];
      return {
        path: pathText(field.path),
        ...(before === undefined ? {} : { before: plainText(before, 200) }),
        ...(after === undefined ? {} : { after: plainText(after, 200) }),
        ...(before !== undefined && after !== undefined && before[0] !== after[0]
          ? { types: [typeName(before), typeName(after)] as const }
          : {}),
        ...(field.order === true ? { order: true } : {}),
      };
    }),
  };
}

/** The first simple fields of a new document, without its `_id`, which has a column of its own. */
function leadingFields(document: Uint8Array): FieldText[] {
  const fields: FieldText[] = [];
  for (const element of elementsOf(valueSlice(document))) {
    if (element.name === '_id') continue;
    if (element.type === Type.Object || element.type === Type.Array) continue;
    fields.push({ path: pathText([element.name]), after: plainText(element.value, 60) });
    if (fields.length === 4) break;
  }
  return fields;
}

function removedWords(change: Change): string {
  if (change.before === undefined) return 'removed';
  const document = fromBase64(change.before);
  const title = titleOf(document);
  return `removed, ${plural(fieldCount(document), 'field')}${title === undefined ? '' : `, ${JSON.stringify(title)}`}`;
}

function importWords({ detail = {} }: Change): string {
  const from = typeof detail['source'] === 'string' ? ` from ${detail['source']}` : '';
  if (detail['state'] === 'running') return `importing${from}`;
  if (detail['state'] === 'failed') return `import${from} failed`;
  const { documents, collections } = detail;
  if (typeof documents !== 'number' || !Array.isArray(collections)) return `imported${from}`;
  return `${count(documents)} documents in ${plural(collections.length, 'collection')}${from}`;
}

/** A schema event's own words: the indexes it names, where it renames to, what it sets. */
function schemaWords({ op, detail = {} }: Change): string {
  const { indexes, to } = detail;
  if (Array.isArray(indexes)) {
    return (indexes as { name?: string; unique?: boolean }[])
      .map(({ name = '', unique }) => (unique === true ? `${name} unique` : name))
      .join(', ');
  }
  if (to !== undefined) return `to ${typeof to === 'string' ? to : JSON.stringify(to)}`;
  const names = Object.keys(detail).filter((name) => name !== 'changeStreamPreAndPostImages');
  return op === 'create' || op === 'drop' ? '' : names.join(', ');
}
