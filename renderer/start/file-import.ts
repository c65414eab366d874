import { useRef, useState } from 'react';
import type { Output } from '../../shared/api.ts';
import { toBase64 } from '../../shared/bson/value.ts';
import { errorBody, ForkyardError } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { plural } from '../shell/numbers.ts';
import { mainBranch, showToast, useApp } from '../store/app.ts';
import { call } from '../store/engine.ts';
import { refreshWhenCounted, withProgress } from './import.ts';

/** What can be read, each also gzipped. */
export const fileTypes = ['.json', '.ndjson', '.jsonl', '.ejson', '.txt'] as const;

export interface FileEntry {
  readonly file: File;
  readonly collection: string;
  readonly state: 'waiting' | 'handing-over' | 'importing' | 'done' | 'failed';
  /** From 0 to 1 while it is handed over. */
  readonly share: number;
  readonly job: string | undefined;
  readonly documents: number;
  readonly problems: Output<'transfer.import'>['problems'];
  readonly error: ErrorBody | undefined;
}

export interface FileImport {
  readonly entries: readonly FileEntry[];
  readonly busy: boolean;
  /** Whether anything is left to import. */
  readonly left: boolean;
  readonly name: (index: number, collection: string) => void;
  readonly remove: (index: number) => void;
  /** Hands each file to the engine and imports it; true when all of them went well. */
  readonly run: (db: string) => Promise<boolean>;
}

const pieceBytes = 1024 * 1024;

const gzipped = /\.gz$/i;

/** `orders 2026.ndjson.gz` -> `orders_2026` */
export function collectionOf(fileName: string): string {
  const plain = fileName
    .replace(gzipped, '')
    .replace(/\.[^.]+$/, '')
    .replace(/[^\p{L}\p{N}_-]+/gu, '_');
  return plain.replace(/^_+|_+$/g, '') || 'documents';
}

export function canRead(fileName: string): boolean {
  const name = fileName.toLowerCase().replace(gzipped, '');
  return fileTypes.some((type) => name.endsWith(type));
}

/** Whether an import was refused for the name of its database, or of its collection. */
export function isNameOf(what: 'database' | 'collection', error: ErrorBody | undefined): boolean {
  return error?.code === 'name_invalid' && error.details?.['name'] === what;
}

/** Files to be imported into main, one after another. */
export function useFileImport(files: readonly File[]): FileImport {
  const [entries, setEntries] = useState<readonly FileEntry[]>(() => files.map(entryOf));
  const [busy, setBusy] = useState(false);
  const jobs = useRef(0);
  const change = (index: number, next: Partial<FileEntry>): void =>
    setEntries((before) => before.map((entry, at) => (at === index ? { ...entry, ...next } : entry)));

  const importOne = async (entry: FileEntry, index: number, db: string): Promise<boolean> => {
    change(index, { state: 'handing-over', share: 0, error: undefined, problems: [] });
    try {
      const source = await handOver(entry.file, (share) => change(index, { share }));
      jobs.current += 1;
      const job = `file-${String(Date.now())}-${String(jobs.current)}`;
      change(index, { state: 'importing', job });
      const into = mainBranch(useApp.getState().branches)?.name ?? 'main';
      const answer = await withProgress(job, () =>
        call('transfer.import', { source, into, db, collection: entry.collection, job }),
      );
      const documents = answer.collections.reduce((sum, one) => sum + one.documents, 0);
      change(index, { state: 'done', documents, problems: answer.problems });
      return answer.problems.length === 0;
    } catch (failure) {
      change(index, { state: 'failed', error: errorBody(failure) });
      return false;
    }
  };
  const run = async (db: string): Promise<boolean> => {
    setBusy(true);
    const outcomes: boolean[] = [];
    let imported = 0;
    for (const [index, entry] of entries.entries()) {
      if (entry.state === 'done') continue;
      const good = await importOne(entry, index, db);
      outcomes.push(good);
      if (good) imported += 1;
    }
    setBusy(false);
    if (imported > 0) {
      useApp.setState({ filled: true });
      void refreshWhenCounted();
      showToast({ tone: 'done', text: `Imported ${plural(imported, 'file')} into main` });
    }
    return outcomes.every((good) => good);
  };
  return {
    entries,
    busy,
    left: entries.some(({ state }) => state === 'waiting' || state === 'failed'),
    name: (index, collection) => change(index, { collection }),
    remove: (index) => setEntries((before) => before.filter((_, at) => at !== index)),
    run,
  };
}

function entryOf(file: File): FileEntry {
  const readable = canRead(file.name);
  return {
    file,
    collection: collectionOf(file.name),
    state: readable ? 'waiting' : 'failed',
    share: 0,
    job: undefined,
    documents: 0,
    problems: [],
    error: readable ? undefined : unreadable(file.name),
  };
}

function unreadable(name: string): ErrorBody {
  if (/\.(archive|bson)(\.gz)?$/i.test(name))
    return {
      code: 'source_unreadable',
      message: `${name} was written by mongodump, whose files Forkyard does not read.`,
      hint: 'Import from the running MongoDB by its URI, or from files that mongoexport wrote.',
      retry: false,
    };
  return {
    code: 'source_unreadable',
    message: `${name} is no JSON file.`,
    hint: `Forkyard reads Extended JSON: an array of documents, or one document a line (${fileTypes.join(', ')}), also gzipped.`,
    retry: false,
  };
}

/** The engine knows no path of a dropped file, nor does a page: its bytes are handed over piece by piece. */
async function handOver(file: File, onShare: (share: number) => void): Promise<string> {
  let source: string | undefined;
  for (let from = 0; from < file.size || source === undefined; from += pieceBytes) {
    const piece = file.slice(from, from + pieceBytes);
    const bytes = await piece.arrayBuffer().catch(() => {
      throw new ForkyardError('source_unreadable', `${file.name} cannot be read.`, {
        hint: 'A folder cannot be imported; drop the files that are in it.',
      });
    });
    const begun: { source?: string } = source === undefined ? {} : { source };
    ({ source } = await call('transfer.upload', {
      name: file.name,
      bytes: toBase64(new Uint8Array(bytes)),
      ...begun,
    }));
    onShare(Math.min(1, (from + pieceBytes) / Math.max(1, file.size)));
  }
  return source;
}
