import type { Output, SchemaChange } from '../../shared/api.ts';
import { collectionName } from '../bson/plain.ts';
import { count, listed, plural } from '../shell/numbers.ts';
import type { z } from 'zod';

type Schema = z.infer<typeof SchemaChange>;
type Diff = Output<'diff.get'>;

/** A part of the sentence: its number is strong. */
export interface SentencePart {
  readonly number: string;
  readonly words: string;
}

/** `37 documents in 3 collections, 1 index, 1 validator, 2 conflicts` */
export function sentence(diff: Diff): SentencePart[][] {
  const counted = (rows: Diff['summary']) => rows.reduce((sum, row) => sum + row.added + row.modified + row.removed, 0);
  const documents = counted(diff.summary.filter((row) => row.buckets === undefined));
  const measurements = counted(diff.summary.filter((row) => row.buckets !== undefined));
  const conflicts =
    diff.summary.reduce((sum, row) => sum + (row.buckets ?? row).conflicts, 0) +
    diff.schema.filter((item) => item.conflict).length;
  const parts: SentencePart[][] = [];
  const found = [
    ...(documents > 0 ? [part(documents, 'document')] : []),
    ...(measurements > 0 ? [part(measurements, 'measurement')] : []),
  ];
  if (found.length > 0) {
    const both = found.length > 1 ? [found[0]!, { number: 'and', words: '' }, found[1]!] : found;
    parts.push([...both, { number: 'in', words: '' }, part(diff.summary.length, 'collection')]);
  }
  for (const [type, word, many] of schemaNames) {
    const items = diff.schema.filter((item) => item.type === type);
    if (items.length === 0) continue;
    const which = type === 'collection' && documents > 0 ? ofWhichKind(items) : '';
    parts.push([part(items.length, `${which}${word}`, many === undefined ? undefined : `${which}${many}`)]);
  }
  if (conflicts > 0) parts.push([part(conflicts, 'conflict')]);
  return parts;
}

/** Tells collections that came or went from those that the documents are in. */
function ofWhichKind(items: readonly Schema[]): string {
  const [kind, ...others] = new Set(items.map((item) => item.kind));
  if (others.length > 0) return 'new or dropped ';
  return kind === 'added' ? 'new ' : kind === 'removed' ? 'dropped ' : 'changed ';
}

const schemaNames = [
  ['collection', 'collection', undefined],
  ['index', 'index', 'indexes'],
  ['validator', 'validator', undefined],
  ['options', 'set of options', 'sets of options'],
  ['view', 'view', undefined],
  ['rename', 'rename', undefined],
] as const;

function part(value: number, one: string, many?: string): SentencePart {
  return { number: count(value), words: plural(value, one, many ?? `${one}s`).slice(count(value).length + 1) };
}

/** What a schema change is, beside its collection's name. */
export function schemaWords(item: Schema): string {
  const verb = { added: 'created', modified: 'changed', removed: 'dropped' }[item.kind];
  switch (item.type) {
    case 'collection':
      return `collection ${verb}${item.documents === undefined ? '' : `, ${plural(item.documents, 'document')}`}`;
    case 'index':
      return `index ${item.name ?? ''} ${verb}`;
    case 'validator':
      return `validator ${verb}`;
    case 'options':
      return `options ${verb}`;
    case 'view':
      return `view ${verb}`;
    case 'rename':
      return `renamed${item.name === undefined ? '' : ` to ${item.name}`}`;
  }
}

/** What is not known, in a sentence; undefined where everything is. */
export function gapSentence(diff: Diff): string | undefined {
  const open = diff.gaps.filter((gap) => !gap.settled);
  const settled = diff.gaps.filter((gap) => gap.settled);
  const names = (gaps: Diff['gaps']): string =>
    listed([...new Set(gaps.map((gap) => (gap.ns === undefined ? 'the branch' : collectionName(gap.ns))))]);
  if (open.length > 0) {
    const reasons = listed([...new Set(open.map((gap) => gap.reason))]);
    return `Not complete: ${names(open)} ${open.length === 1 ? 'has a history gap' : 'have history gaps'} (${reasons}). An exact comparison is under way.`;
  }
  if (!diff.complete)
    return 'Not complete yet: the record is still catching up. There may be more changes than are listed.';
  if (settled.length > 0) return `${names(settled)} had a history gap and was compared exactly.`;
  return undefined;
}
