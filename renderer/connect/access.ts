import type { AccessLevel } from '../../shared/api.ts';

/** What an actor may do, most first. */
export const accessLevels: readonly AccessLevel[] = ['schema', 'readWrite', 'read'];

/** The same in two words. */
export const accessNames: Readonly<Record<AccessLevel, string>> = {
  schema: 'Schema too',
  readWrite: 'Read & write',
  read: 'Read only',
};

/** And in a sentence. */
export const accessHints: Readonly<Record<AccessLevel, string>> = {
  schema: 'Documents, indexes, validators, whole databases. No users, no oplog, no shutdown.',
  readWrite: 'Documents and indexes. No validators, no dropping of databases.',
  read: 'Nothing can be written.',
};
