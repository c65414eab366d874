import type { Change, ChangeKind } from '../../shared/api.ts';

/** What a change did, as one of the three signs; a gap has none. */
export function kindOf(change: Change): ChangeKind | undefined {
  switch (change.op) {
    case 'insert':
    case 'create':
    case 'createIndexes':
    case 'shardCollection':
    case 'import':
      return 'added';
    case 'delete':
    case 'drop':
    case 'dropDatabase':
    case 'dropIndexes':
      return 'removed';
    case 'gap':
      return undefined;
    default:
      return 'modified';
  }
}

/** True for a change of one document. */
export function isDocumentChange(change: Change): boolean {
  return ['insert', 'update', 'replace', 'delete'].includes(change.op);
}

/** What a schema event or an import is about, as a chip beside the collection. */
export function schemaWord(change: Change): string | undefined {
  switch (change.op) {
    case 'create':
    case 'drop':
      return 'collection';
    case 'createIndexes':
    case 'dropIndexes':
      return 'index';
    case 'modify':
      return 'options';
    case 'rename':
      return 'rename';
    case 'dropDatabase':
      return 'database';
    case 'import':
      return 'import';
    default:
      return undefined;
  }
}

/** Read out instead of the sign. */
export function kindWord(change: Change): string {
  const words: Readonly<Record<string, string>> = {
    insert: 'added',
    update: 'changed',
    replace: 'replaced',
    delete: 'removed',
    create: 'created',
    drop: 'dropped',
    createIndexes: 'index created',
    dropIndexes: 'index dropped',
    modify: 'options changed',
    rename: 'renamed',
    dropDatabase: 'database dropped',
    import: 'imported',
    gap: 'history gap',
  };
  return words[change.op] ?? change.op;
}
