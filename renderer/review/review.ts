import { create } from 'zustand';
import type { Bson, DocumentChange, Output } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { call, isConnectionLoss } from '../store/engine.ts';
import { keepDecisions } from './decisions.ts';
import type { Decisions } from './decisions.ts';
import { everything } from './selection.ts';
import type { Selection } from './selection.ts';

const pageDocuments = 200;
/** A refresh reads as many rows as were loaded, at most this many; the rest is paged in again. */
const refreshDocuments = 2_000;
const conflictsAtMost = 2_000;
const undoSteps = 200;

export interface DocumentList {
  readonly documents: readonly DocumentChange[];
  /** Where the next page starts; undefined at the end. */
  readonly next: string | undefined;
}

export interface DocumentReview extends Output<'diff.document'> {
  readonly ns: string;
  readonly id: Bson;
}

/** What is compared, chosen and decided for one branch. Kept while the window lives. */
export interface ReviewState {
  /** Summary, schema and gaps; its documents are in `list` and `conflicts`. */
  readonly diff: Output<'diff.get'> | undefined;
  readonly error: ErrorBody | undefined;
  readonly refreshing: boolean;
  /** The collection whose documents are listed. */
  readonly ns: string | undefined;
  readonly list: DocumentList | undefined;
  readonly conflictsOnly: boolean;
  /** Every document with a conflict. */
  readonly conflicts: readonly DocumentChange[];
  readonly decisions: Decisions;
  readonly document: DocumentReview | undefined;
  readonly selection: Selection;
  /** Earlier selections, the last one last. */
  readonly past: readonly Selection[];
  readonly view: 'changes' | 'conflicts';
}

const fresh: ReviewState = {
  diff: undefined,
  error: undefined,
  refreshing: false,
  ns: undefined,
  list: undefined,
  conflictsOnly: false,
  conflicts: [],
  decisions: new Map(),
  document: undefined,
  selection: everything,
  past: [],
  view: 'changes',
};

/** Reviews by branch id. */
export const useReviews = create<{ readonly reviews: Readonly<Record<string, ReviewState>> }>()(() => ({
  reviews: {},
}));

export function reviewOf(branch: string): ReviewState {
  return useReviews.getState().reviews[branch] ?? fresh;
}

export function useReview(branch: string): ReviewState {
  return useReviews((state) => state.reviews[branch]) ?? fresh;
}

export function updateReview(branch: string, change: Partial<ReviewState>): void {
  useReviews.setState(({ reviews }) => ({
    reviews: { ...reviews, [branch]: { ...(reviews[branch] ?? fresh), ...change } },
  }));
}

export function showConflicts(branch: string, shown: boolean): void {
  updateReview(branch, { view: shown ? 'conflicts' : 'changes' });
}

/** Takes a new selection; the old one can be had back. */
export function select(branch: string, selection: Selection): void {
  const { selection: before, past } = reviewOf(branch);
  if (selection !== before) updateReview(branch, { selection, past: [...past, before].slice(-undoSteps) });
}

export function undoSelect(branch: string): void {
  const { past } = reviewOf(branch);
  const selection = past.at(-1);
  if (selection !== undefined) updateReview(branch, { selection, past: past.slice(0, -1) });
}

/** Lists the documents of a collection. */
export async function openCollection(branch: string, ns: string, conflictsOnly = false): Promise<void> {
  updateReview(branch, { ns, list: undefined, conflictsOnly });
  await attempt(branch, async () => {
    const list = await readList(branch, ns, conflictsOnly, pageDocuments);
    const now = reviewOf(branch);
    if (now.ns === ns && now.conflictsOnly === conflictsOnly) updateReview(branch, { list });
    const [first] = list.documents;
    if (first !== undefined && reviewOf(branch).document?.ns !== ns) await openDocument(branch, ns, first.id);
  });
}

/** Reads one document's three sides. */
export async function openDocument(branch: string, ns: string, id: Bson): Promise<void> {
  await attempt(branch, async () => {
    const answer = await call('diff.document', { branch, ns, id });
    updateReview(branch, { document: { ...answer, ns, id } });
  });
}

const loadingMore = new Set<string>();

export async function loadMoreDocuments(branch: string): Promise<void> {
  const { ns, list, conflictsOnly } = reviewOf(branch);
  if (ns === undefined || list?.next === undefined || loadingMore.has(branch)) return;
  loadingMore.add(branch);
  try {
    await attempt(branch, async () => {
      const more = await readList(branch, ns, conflictsOnly, pageDocuments, list.next);
      // Another list, or a refreshed one, has taken this one's place meanwhile.
      if (reviewOf(branch).list !== list) return;
      updateReview(branch, { list: { documents: [...list.documents, ...more.documents], next: more.next } });
    });
  } finally {
    loadingMore.delete(branch);
  }
}

/** Compares again and shows what there is now; selection, decisions and the place in the list stay. */
export async function refreshReview(branch: string): Promise<void> {
  updateReview(branch, { refreshing: true });
  await attempt(branch, async () => {
    const diff = await call('diff.get', { branch, summary: true });
    const before = reviewOf(branch);
    const conflicts = await readConflicts(branch, diff);
    const namespaces = diff.summary.map((row) => row.ns);
    const ns = before.ns !== undefined && namespaces.includes(before.ns) ? before.ns : namespaces[0];
    const wanted = Math.min(refreshDocuments, Math.max(pageDocuments, before.list?.documents.length ?? 0));
    const list = ns === undefined ? undefined : await readList(branch, ns, before.conflictsOnly, wanted);
    const document = await rereadDocument(branch, before, list, ns);
    const now = reviewOf(branch);
    const sameList = now.ns === before.ns && now.conflictsOnly === before.conflictsOnly;
    const sameDocument = now.document === before.document;
    updateReview(branch, {
      diff,
      conflicts,
      decisions: keepDecisions(now.decisions, conflicts),
      error: undefined,
      ...(sameList ? { ns, list } : {}),
      ...(sameDocument ? { document } : {}),
    });
  });
  updateReview(branch, { refreshing: false });
}

async function attempt(branch: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!isConnectionLoss(error)) updateReview(branch, { error: errorBody(error) });
  }
}

async function readList(
  branch: string,
  ns: string,
  conflictsOnly: boolean,
  limit: number,
  after?: string,
): Promise<DocumentList> {
  const diff = await call('diff.get', {
    branch,
    only: [{ ns }],
    limit,
    ...(conflictsOnly ? { conflictsOnly } : {}),
    ...(after === undefined ? {} : { after }),
  });
  return { documents: diff.documents, next: diff.next };
}

async function readConflicts(branch: string, diff: Output<'diff.get'>): Promise<readonly DocumentChange[]> {
  if (diff.summary.every((row) => row.conflicts === 0)) return [];
  const answer = await call('diff.get', { branch, conflictsOnly: true, limit: conflictsAtMost });
  return answer.documents.filter((document) => document.conflict);
}

/** The open document as it is now; where it is no change any more, the first of the list. */
async function rereadDocument(
  branch: string,
  before: ReviewState,
  list: DocumentList | undefined,
  ns: string | undefined,
): Promise<DocumentReview | undefined> {
  const open = before.document;
  if (open !== undefined) {
    const answer = await call('diff.document', { branch, ns: open.ns, id: open.id });
    if (answer.change !== undefined) return { ...answer, ns: open.ns, id: open.id };
  }
  const first = list?.documents[0];
  if (first === undefined || ns === undefined) return undefined;
  const answer = await call('diff.document', { branch, ns, id: first.id });
  return { ...answer, ns, id: first.id };
}
