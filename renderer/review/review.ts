import { create } from 'zustand';
import type { Bson, BranchRow, DocumentChange, Output } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { remember } from '../store/counts.ts';
import { call, isConnectionLoss } from '../store/engine.ts';
import { keepDecisions } from './decisions.ts';
import type { Decisions } from './decisions.ts';
import { everything, keepNamed, namedDocuments } from './selection.ts';
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

/** The engine names branches by name, the window by id. */
type Named = Pick<BranchRow, 'id' | 'name'>;

/** Lists the documents of a collection. */
export async function openCollection(branch: Named, ns: string, conflictsOnly = false): Promise<void> {
  updateReview(branch.id, { ns, list: undefined, conflictsOnly });
  await attempt(branch.id, async () => {
    const list = await readList(branch, ns, conflictsOnly, pageDocuments);
    const now = reviewOf(branch.id);
    if (now.ns === ns && now.conflictsOnly === conflictsOnly) updateReview(branch.id, { list });
    const [first] = list.documents;
    if (first !== undefined && reviewOf(branch.id).document?.ns !== ns) await openDocument(branch, ns, first.id);
  });
}

/** Reads one document's three sides. */
export async function openDocument(branch: Named, ns: string, id: Bson): Promise<void> {
  await attempt(branch.id, async () => {
    const answer = await call('diff.document', { branch: branch.name, ns, id });
    updateReview(branch.id, { document: { ...answer, ns, id } });
  });
}

const loadingMore = new Set<string>();

export async function loadMoreDocuments(branch: Named): Promise<void> {
  const { ns, list, conflictsOnly } = reviewOf(branch.id);
  if (ns === undefined || list?.next === undefined || loadingMore.has(branch.id)) return;
  loadingMore.add(branch.id);
  try {
    await attempt(branch.id, async () => {
      const more = await readList(branch, ns, conflictsOnly, pageDocuments, list.next);
      // Another list, or a refreshed one, has taken this one's place meanwhile.
      if (reviewOf(branch.id).list !== list) return;
      updateReview(branch.id, { list: { documents: [...list.documents, ...more.documents], next: more.next } });
    });
  } finally {
    loadingMore.delete(branch.id);
  }
}

/** Compares again and shows what there is now; selection, decisions and the place in the list stay. */
export async function refreshReview(branch: Named): Promise<void> {
  updateReview(branch.id, { refreshing: true });
  await attempt(branch.id, async () => {
    const diff = await call('diff.get', { branch: branch.name, summary: true });
    remember(branch.id, diff);
    const before = reviewOf(branch.id);
    const conflicts = await readConflicts(branch, diff);
    const namespaces = diff.summary.map((row) => row.ns);
    const ns = before.ns !== undefined && namespaces.includes(before.ns) ? before.ns : namespaces[0];
    const wanted = Math.min(refreshDocuments, Math.max(pageDocuments, before.list?.documents.length ?? 0));
    const list = ns === undefined ? undefined : await readList(branch, ns, before.conflictsOnly, wanted);
    const document = await rereadDocument(branch, before, list, ns);
    const isThere = await stillChanged(branch, before.selection);
    const now = reviewOf(branch.id);
    const sameList = now.ns === before.ns && now.conflictsOnly === before.conflictsOnly;
    const sameDocument = now.document === before.document;
    updateReview(branch.id, {
      diff,
      conflicts,
      decisions: keepDecisions(now.decisions, conflicts),
      // A selection made meanwhile is looked at by the next comparison.
      ...(now.selection === before.selection ? { selection: keepNamed(now.selection, isThere) } : {}),
      error: undefined,
      ...(sameList ? { ns, list } : {}),
      ...(sameDocument ? { document } : {}),
    });
  });
  updateReview(branch.id, { refreshing: false });
}

async function attempt(id: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!isConnectionLoss(error)) updateReview(id, { error: errorBody(error) });
  }
}

async function readList(
  branch: Named,
  ns: string,
  conflictsOnly: boolean,
  limit: number,
  after?: string,
): Promise<DocumentList> {
  const diff = await call('diff.get', {
    branch: branch.name,
    only: [{ ns }],
    limit,
    ...(conflictsOnly ? { conflictsOnly } : {}),
    ...(after === undefined ? {} : { after }),
  });
  return { documents: diff.documents, next: diff.next };
}

async function readConflicts(branch: Named, diff: Output<'diff.get'>): Promise<readonly DocumentChange[]> {
  if (diff.summary.every((row) => row.conflicts === 0)) return [];
  const answer = await call('diff.get', { branch: branch.name, conflictsOnly: true, limit: conflictsAtMost });
  return answer.documents.filter((document) => document.conflict);
}

/** Which of the documents that a selection names are changes still. */
async function stillChanged(branch: Named, selection: Selection): Promise<(ns: string, id: Bson) => boolean> {
  const named = namedDocuments(selection);
  if (named.length === 0) return () => true;
  const { documents } = await call('diff.get', { branch: branch.name, only: named, limit: 10_000 });
  const found = new Set(documents.map(({ ns, id }) => `${ns}\n${id}`));
  return (ns, id) => found.has(`${ns}\n${id}`);
}

/** The open document as it is now; where it is no change any more, the first of the list. */
async function rereadDocument(
  branch: Named,
  before: ReviewState,
  list: DocumentList | undefined,
  ns: string | undefined,
): Promise<DocumentReview | undefined> {
  const open = before.document;
  if (open !== undefined) {
    const answer = await call('diff.document', { branch: branch.name, ns: open.ns, id: open.id });
    if (answer.change !== undefined) return { ...answer, ns: open.ns, id: open.id };
  }
  const first = list?.documents[0];
  if (first === undefined || ns === undefined) return undefined;
  const answer = await call('diff.document', { branch: branch.name, ns, id: first.id });
  return { ...answer, ns, id: first.id };
}
