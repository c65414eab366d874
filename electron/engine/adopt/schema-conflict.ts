import { shellText } from '../../../shared/bson/ejson.ts';
import { Type, type BsonValue } from '../../../shared/bson/value.ts';
import { text as textOf } from '../changes/catalog.ts';
import type { SchemaDelta } from '../changes/schema.ts';

const namedDocuments = 10;

/** One sentence on a schema item in conflict: what each side did to which collection, view or index. */
export function explainSchemaConflict(
  delta: SchemaDelta,
  { branch, parent }: { readonly branch: string; readonly parent: string },
): string {
  const { ns, type, edited } = delta;
  if (edited) return `${branch} dropped ${ns}, and ${parent} changed ${documentsText(edited)} of it since.`;
  if (type === 'rename') return renameText(delta, branch, parent);
  const what = partText(delta);
  if (delta.base === undefined) {
    return `${parent} and ${branch} both made ${type === 'options' ? ns : what}, with different ${partsOf(type)}.`;
  }
  if (delta.branch === undefined) {
    const did = type === 'collection' ? 'changed its options, validator, indexes or name since' : 'changed it';
    return `${branch} dropped ${what}, and ${parent} ${did}.`;
  }
  if (delta.parent === undefined) return `${parent} dropped ${what}, and ${branch} changed it.`;
  return `${parent} and ${branch} changed ${what} differently.`;
}

/** The same where changes are taken back inside one branch: what they did was changed again later. */
export function explainChangedAgain(delta: SchemaDelta): string {
  const what = delta.type === 'rename' ? `the name of ${delta.parentNs ?? delta.ns}` : partText(delta);
  return `${what[0]!.toUpperCase()}${what.slice(1)} was changed again later; it stays as it is.`;
}

function partsOf(type: SchemaDelta['type']): string {
  if (type === 'collection' || type === 'options') return 'options';
  return type === 'validator' ? 'rules' : 'definitions';
}

function partText({ type, ns, name }: SchemaDelta): string {
  switch (type) {
    case 'index':
      return `the index ${name ?? ''} of ${ns}`;
    case 'validator':
      return `the validator of ${ns}`;
    case 'options':
      return `the options of ${ns}`;
    default:
      return `the ${type} ${ns}`;
  }
}

/** The three sides are names. */
function renameText(delta: SchemaDelta, branch: string, parent: string): string {
  const [base, there, here] = [delta.base, delta.parent, delta.branch].map((name) => name && nameText(name));
  const renamed = `${branch} renamed ${base ?? 'a collection'} to ${here ?? delta.ns}`;
  return `${renamed}, and ${parent} ${there === undefined ? 'dropped it' : `renamed it to ${there}`}.`;
}

function nameText(name: BsonValue): string {
  return name[0] === Type.String ? textOf(name) : shellText(name);
}

function documentsText(keys: readonly BsonValue[]): string {
  const named = keys.slice(0, namedDocuments).map((key) => shellText(key));
  const more = keys.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}
