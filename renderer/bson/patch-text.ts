import type { FieldChange } from '../../shared/api.ts';
import type { z } from 'zod';
import { fromBase64, typeName } from '../../shared/bson/value.ts';
import { plural } from '../shell/numbers.ts';
import { pathText, plainText } from './plain.ts';

const told = 30;

type Field = z.infer<typeof FieldChange>;

/** What changed in a document, in sentences to be read out. */
export function patchText(
  fields: readonly Field[],
  names: { readonly parent: string; readonly branch: string },
): string {
  const sentences = fields.slice(0, told).map((field) => sentenceOf(field, names));
  const more = fields.length - sentences.length;
  return [...sentences, ...(more > 0 ? [`And ${plural(more, 'more change')}.`] : [])].join(' ');
}

function sentenceOf(field: Field, names: { readonly parent: string; readonly branch: string }): string {
  const path = pathText(field.path);
  if (field.order === true) return `${path}: order changed.`;
  const [base, branch] = [valueText(field.base), valueText(field.branch)];
  if (field.class === 'divergent') {
    const side = (text: string | undefined): string => text ?? 'removed';
    return `${path}: conflict, ${base ?? 'not there'} at the fork, ${side(valueText(field.parent))} in ${names.parent}, ${side(branch)} in ${names.branch}.`;
  }
  if (base === undefined) return `${path}: added, ${branch ?? ''}.`;
  if (branch === undefined) return `${path}: removed, was ${base}.`;
  const types = [field.base, field.branch].map((bson) => typeName(fromBase64(bson ?? '')));
  const typed = types[0] === types[1] ? '' : `, ${types[0] ?? ''} to ${types[1] ?? ''}`;
  return `${path}: ${base} to ${branch}${typed}.`;
}

function valueText(bson: string | undefined): string | undefined {
  // Only the beginning of a large value is decoded for a sentence.
  if (bson === undefined) return undefined;
  return bson.length > 100_000 ? 'a large value' : plainText(fromBase64(bson), 120);
}
