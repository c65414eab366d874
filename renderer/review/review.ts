import { create } from 'zustand';
import type { Bson, BranchRow, DocumentChange, Output } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { remember } from '../store/counts.ts';
import { call, isConnectionLoss } from '../store/engine.ts';
import { chooseBranch, useApp } from '../store/app.ts';
import {
  conflictPlaces,
  forgetDecisions,
  keepDecisions,
  rememberDecisions,
  rememberedDecisions,
  schemaPlace,
  withDecision,
  withoutDecision,
} from './decisions.ts';
import type { Choice, ConflictPlace, Decisions, Reopened } from './decisions.ts';
import { everything, keepNamed, namedDocuments } from './selection.ts';
import type { Selection } from './selection.ts';

const pageDocuments = 200;
const morePageDocuments = 500;
/** A refresh reads as many rows as were loaded, at most this many; the rest is paged in again. */
const refreshDocuments = 2_000;
const conflictsAtMost = 2_000;
const undoSteps = 200;

export interface DocumentList {
  readonly documents: readonly DocumentChange[];
  /** Where the next page starts; undefined at the end. */
  readonly next: string | undefined;
}

interface DocumentPlace {
  readonly ns: string;
  readonly id: Bson;
}

export interface DocumentReview extends Output<'diff.document'>, DocumentPlace {}

/** What is compared, chosen and decided for one branch. Kept while the window lives. */
export interface ReviewState {
  /** Summary, schema and gaps; its documents are in `list` and `conflicts`. */
  readonly diff: Output<'diff.get'> | undefined;
  /** True while only the first documents are known: what there is in all is being counted. */
  readonly counting: boolean;
  readonly error: ErrorBody | undefined;
  readonly refreshing: boolean;
  /** The collection whose documents are listed. */
  readonly ns: string | undefined;
  readonly list: DocumentList | undefined;
  readonly conflictsOnly: boolean;
  /** Every document with a conflict. */
  readonly conflicts: readonly DocumentChange[];
  readonly decisions: Decisions;
  /** What must be decided again because a side moved. */
  readonly reopened: Reopened;
  /** Any edit of one document on both sides is a conflict. */
  readonly strict: boolean;
  readonly document: DocumentReview | undefined;
  /** The document that was asked for last, until it is there. */
  readonly opening: DocumentPlace | undefined;
  readonly selection: Selection;
  /** Earlier selections, the last one last. */
  readonly past: readonly Selection[];
  readonly view: 'changes' | 'conflicts';
}

const fresh: ReviewState = {
  diff: undefined,
  counting: false,
  error: undefined,
  refreshing: false,
  ns: undefined,
  list: undefined,
  conflictsOnly: false,
  conflicts: [],
  decisions: new Map(),
  reopened: new Map(),
  strict: false,
  document: undefined,
  opening: undefined,
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

/** Everything that must be decided: fields of documents, and schema items. */
export function placesOf({ conflicts, diff }: Pick<ReviewState, 'conflicts' | 'diff'>): ConflictPlace[] {
  const schema = (diff?.schema ?? []).flatMap((item) => schemaPlace(item) ?? []);
  return [...schema, ...conflicts.flatMap(conflictPlaces)];
}

/** Decides a place; without a choice it is open again. */
export function decide(branch: string, place: ConflictPlace, choice: Choice | undefined): void {
  const { decisions: before } = reviewOf(branch);
  const decisions = choice === undefined ? withoutDecision(before, place) : withDecision(before, place, choice);
  updateReview(branch, { decisions });
  rememberDecisions(branch, decisions);
}

/** Compares anew with or without merging what both sides changed in one document. */
export async function setStrict(branch: Named, strict: boolean): Promise<void> {
  updateReview(branch.id, { strict });
  await refreshReview(branch);
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

/** Opens the review of a branch on one document. */
export async function showDocument(branch: Named, ns: string, id: Bson): Promise<void> {
  showConflicts(branch.id, false);
  chooseBranch(branch.id, 'review');
  await openDocument(branch, ns, id);
  if (reviewOf(branch.id).ns !== ns) await openCollection(branch, ns);
}

/** The document that a key is about: the one asked for, though it may not be there yet. */
export function currentDocument({ opening, document }: ReviewState): DocumentPlace | undefined {
  return opening ?? document;
}

/** Reads one document's three sides. Of several asked for at once the last one is shown. */
export async function openDocument(branch: Named, ns: string, id: Bson): Promise<void> {
  const opening = { ns, id };
  const isLast = (): boolean => reviewOf(branch.id).opening === opening;
  updateReview(branch.id, { opening });
  await attempt(branch.id, async () => {
    const answer = await call('diff.document', { branch: branch.name, ns, id, ...strictness(branch) });
    if (isLast()) updateReview(branch.id, { document: { ...answer, ns, id }, opening: undefined });
  });
  if (isLast()) updateReview(branch.id, { opening: undefined });
}

const loadingMore = new Set<string>();

export async function loadMoreDocuments(branch: Named): Promise<void> {
  const { ns, list, conflictsOnly } = reviewOf(branch.id);
  if (ns === undefined || list?.next === undefined || loadingMore.has(branch.id)) return;
  loadingMore.add(branch.id);
  try {
    await attempt(branch.id, async () => {
      const more = await readList(branch, ns, conflictsOnly, morePageDocuments, list.next);
      // Another list, or a refreshed one, has taken this one's place meanwhile.
      if (reviewOf(branch.id).list !== list) return;
      updateReview(branch.id, { list: { documents: [...list.documents, ...more.documents], next: more.next } });
    });
  } finally {
    loadingMore.delete(branch.id);
  }
}

/**
 * Compares again and shows what there is now; selection, decisions and the place in the list stay. The first documents are
 * there at once; how many there are in all, and which are in conflict, follows.
 */
export async function refreshReview(branch: Named): Promise<void> {
  updateReview(branch.id, { refreshing: true });
  await attempt(branch.id, async () => {
    if (reviewOf(branch.id).diff === undefined) await openFirst(branch);
    const { strict } = reviewOf(branch.id);
    const diff = await call('diff.get', {
      branch: branch.name,
      conflictsOnly: true,
      parentFields: true,
      limit: conflictsAtMost,
      ...strictness(branch),
    });
    if (!strict) remember(branch.id, diff);
    const before = reviewOf(branch.id);
    // Asked for in another strictness meanwhile.
    if (before.strict !== strict) return refreshReview(branch);
    const conflicts = diff.documents.filter((document) => document.conflict);
    const namespaces = diff.summary.map((row) => row.ns);
    const ns = before.ns !== undefined && namespaces.includes(before.ns) ? before.ns : namespaces[0];
    const wanted = Math.min(refreshDocuments, Math.max(pageDocuments, before.list?.documents.length ?? 0));
    const list = ns === undefined ? undefined : await readList(branch, ns, before.conflictsOnly, wanted);
    const document = await rereadDocument(branch, before, list, ns);
    const isThere = await stillChanged(branch, before.selection);
    const now = reviewOf(branch.id);
    const sameList = now.ns === before.ns && now.conflictsOnly === before.conflictsOnly;
    const sameDocument = now.document === before.document;
    const places = placesOf({ conflicts, diff });
    const { decisions, reopened } = keepDecisions(now.decisions, places, diff.comparedAt);
    rememberDecisions(branch.id, decisions);
    const openAgain = [...now.reopened, ...reopened].filter(([key]) => !decisions.has(key));
    updateReview(branch.id, {
      diff: { ...diff, documents: [] },
      counting: false,
      conflicts,
      decisions,
      reopened: new Map(openAgain),
      // A selection made meanwhile is looked at by the next comparison.
      ...(now.selection === before.selection ? { selection: keepNamed(now.selection, isThere) } : {}),
      error: undefined,
      ...(sameList ? { ns, list } : {}),
      ...(sameDocument ? { document } : {}),
    });
  });
  updateReview(branch.id, { refreshing: false });
}

/** The first documents of a review that was not open yet, with what was decided in an earlier window. */
async function openFirst(branch: Named): Promise<void> {
  forgetDecisions((id) => useApp.getState().branches.some((one) => one.id === id));
  updateReview(branch.id, { decisions: rememberedDecisions(branch.id) });
  const diff = await call('diff.get', { branch: branch.name, listing: true, limit: pageDocuments });
  const [first] = diff.documents;
  // A collection that was asked for meanwhile stays.
  if (first === undefined || reviewOf(branch.id).ns !== undefined) return;
  const documents = diff.documents.filter((document) => document.ns === first.ns);
  const next = documents.length === diff.documents.length ? diff.next : undefined;
  updateReview(branch.id, {
    diff: { ...diff, documents: [] },
    counting: true,
    ns: first.ns,
    list: { documents, next },
  });
  if (reviewOf(branch.id).document === undefined) await openDocument(branch, first.ns, first.id);
}

function strictness({ id }: Named): { strict: true } | object {
  return reviewOf(id).strict ? { strict: true } : {};
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
    listing: true,
    ...strictness(branch),
    ...(conflictsOnly ? { conflictsOnly } : {}),
    ...(after === undefined ? {} : { after }),
  });
  return { documents: diff.documents, next: diff.next };
}

/** Which of the documents that a selection names are changes still. */
async function stillChanged(branch: Named, selection: Selection): Promise<(ns: string, id: Bson) => boolean> {
  const named = namedDocuments(selection);
  if (named.length === 0) return () => true;
  const { documents } = await call('diff.get', { branch: branch.name, only: named, limit: 10_000, listing: true });
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
    const answer = await call('diff.document', {
      branch: branch.name,
      ns: open.ns,
      id: open.id,
      ...strictness(branch),
    });
    if (answer.change !== undefined) return { ...answer, ns: open.ns, id: open.id };
  }
  const first = list?.documents[0];
  if (first === undefined || ns === undefined) return undefined;
  const answer = await call('diff.document', { branch: branch.name, ns, id: first.id, ...strictness(branch) });
  return { ...answer, ns, id: first.id };
}
