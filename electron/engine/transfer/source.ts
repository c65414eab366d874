import path from 'node:path';
import { ForkyardError } from '../../../shared/errors.ts';
import type { ImportSource, SampleName } from './contract.ts';
import { parseAddress } from './address.ts';

const samples: readonly SampleName[] = ['three', 'shop'];

/**
 * Reads what a user named as the source: `sample:NAME`, a `mongodb://` or `mongodb+srv://` URI, or a file's absolute path.
 * Throws ForkyardError `usage` for a sample there is none of, and `source_unreadable` for a URI that cannot be parsed.
 */
export function parseSource(text: string): ImportSource {
  if (text.startsWith('sample:')) {
    const name = samples.find((sample) => `sample:${sample}` === text);
    if (name) return { kind: 'sample', name };
    throw new ForkyardError('usage', `There is no ${text}.`, { hint: `There are sample:three and sample:shop.` });
  }
  if (/^mongodb(\+srv)?:\/\//i.test(text)) {
    parseAddress(text);
    return { kind: 'deployment', uri: text };
  }
  if (!path.isAbsolute(text)) throw new ForkyardError('usage', `A file to import is named by its absolute path.`);
  return { kind: 'file', path: text };
}

/** The source as the log and progress name it: a deployment by its hosts alone, never with its credentials. */
export function sourceLabel(source: ImportSource): string {
  if (source.kind === 'sample') return `sample:${source.name}`;
  return source.kind === 'file' ? path.basename(source.path) : parseAddress(source.uri).label;
}
