import type { ChangeKind, Target } from '../../../shared/api.ts';
import { fromBase64, toBase64, type BsonValue } from '../../../shared/bson/value.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { compareDocument, type FieldDelta, parentChanges } from '../../../shared/changes/compare.ts';
import type { Home } from '../home/home.ts';
import type { GapRecord, TouchedRecord } from '../home/records.ts';
import { loadBaseCatalog } from './base-catalog.ts';
import { hashAdmin, readCatalog } from './catalog.ts';
import { measurementDelta, type MeasurementCounts } from './measurements.ts';
import { withParentEdits } from './parent-edits.ts';
import { recordReplaced } from './replaced.ts';
import { compareSchema, parentCollection, type SchemaDelta } from './schema.ts';
import { Selection } from './selection.ts';
import { pausedText, settleNow, type Side } from './side.ts';
import { readSides, splitNamespace, type Comparison, type TouchedDocument } from './touched.ts';

/** One document of a diff, its values as bytes. */
export interface ListedDocument {
  readonly ns: string;
  readonly key: BsonValue;
  readonly kind: ChangeKind;
  readonly conflict: boolean;
  readonly fields: readonly FieldDelta[];
  /** What the parent alone changed, where it was asked for. */
  readonly parentFields?: readonly FieldDelta[] | undefined;
  /** Of a bucket of a time-series collection: what became of the measurements in it. */
  readonly measurements?: MeasurementCounts | undefined;
}

/** One with what it was found by. */
export interface DocumentDiff extends ListedDocument {
  readonly sides: TouchedDocument;
}

interface Counts {
  added: number;
  modified: number;
  removed: number;
  conflicts: number;
}

/** Of a time-series collection in measurements, and `buckets` what is listed. */
interface NamespaceCounts extends Counts {
  buckets?: Counts;
}

export interface DiffResult {
  readonly complete: boolean;
  readonly gaps: readonly GapRecord[];
  readonly summary: ReadonlyMap<string, NamespaceCounts>;
  readonly schema: readonly SchemaDelta[];
  readonly documents: readonly ListedDocument[];
  /** Where the next page starts. */
  readonly next: string | undefined;
}

export interface DiffQuery {
  readonly only?: readonly Target[] | undefined;
  readonly limit: number;
  readonly after?: string | undefined;
  readonly conflictsOnly?: boolean | undefined;
  /** Tell of documents in conflict what the parent alone changed too. */
  readonly parentFields?: boolean | undefined;
  readonly strict?: boolean | undefined;
  /** Only the page of documents, answered as soon as it is full: no summary, no schema. */
  readonly listing?: boolean | undefined;
  /** Ends the comparison between two pages. */
  readonly signal?: AbortSignal | undefined;
}

/** Rows read at once at most: bounds memory at about this many documents on three sides. */
export const comparePage = 1_000;

/** Reads the three catalogs. Both histories are settled first, so that the answer covers the time of the request. */
export async function openComparison(
  home: Home,
  branch: Side,
  parent: Side,
): Promise<{ comparison: Comparison; settled: boolean; adminChanged: boolean }> {
  const [ahead, behind] = await Promise.all([settleNow(branch), settleNow(parent)]);
  const [base, branchCatalog, parentCatalog, adminHash] = await Promise.all([
    loadBaseCatalog(home, branch.record._id),
    readCatalog(branch.client),
    readCatalog(parent.client),
    hashAdmin(branch.client),
  ]);
  const comparison = { branch, parent, base: base.catalog, branchCatalog, parentCatalog };
  await recordReplaced(home, comparison);
  return {
    comparison,
    settled: ahead && behind,
    adminChanged: adminHash !== base.adminHash,
  };
}

/**
 * The net effect of a branch against its parent, in memory of one page however many documents were touched.
 * The summary counts everything that `only` lets through; documents come a page at a time.
 */
export async function computeDiff(home: Home, branch: Side, parent: Side, query: DiffQuery): Promise<DiffResult> {
  const { comparison, settled, adminChanged } = await openComparison(home, branch, parent);
  const selection = new Selection({ only: query.only, strict: query.strict }, branch.record.name, parent.record.name);
  const from = pageStart(query);
  const pages = comparedPages(
    comparison,
    selection,
    query.listing === true ? { after: from, rows: query.limit + 1 } : {},
  );
  const found = await listed(pages, ({ sides }) => sides.row.id, query);
  const documents = query.parentFields === true ? found.documents.map(withParentFields) : found.documents;
  const deltas = compareSchema(comparison.base, comparison.parentCatalog, comparison.branchCatalog);
  const wanted = await withParentEdits(
    comparison,
    deltas.filter((delta) => query.listing !== true && selection.includesSchema(delta)),
  );
  const schema = await Promise.all(wanted.map((delta) => withCount(comparison, delta)));
  const gaps = await openGaps(home, branch);
  if (adminChanged) {
    gaps.push(adminGap(branch.record._id));
  }
  gaps.push(...pausedGaps(branch, parent));
  return { complete: settled && gaps.every((gap) => gap.settled), gaps, schema, ...found, documents };
}

function withParentFields(document: DocumentDiff): ListedDocument {
  const { sides, conflict } = document;
  return conflict ? { ...document, parentFields: parentChanges(sides, { whole: sides.isBucket }) } : document;
}

/** A page of documents ends behind the one whose values pass this: an answer has to fit its connection. */
const pageBytes = 32 * 1024 * 1024;

/** Counts pages of differences, in order of their ids, and keeps the page of documents that was asked for. */
export async function listed<T extends ListedDocument>(
  pages: AsyncIterable<readonly T[]>,
  idOf: (document: T) => Uint8Array,
  query: DiffQuery,
): Promise<Pick<DiffResult, 'summary' | 'next'> & { readonly documents: readonly T[] }> {
  const summary = new Map<string, NamespaceCounts>();
  const documents: T[] = [];
  const from = pageStart(query);
  let next: string | undefined;
  let bytes = 0;
  for await (const page of pages) {
    query.signal?.throwIfAborted();
    for (const diff of page) {
      if (query.listing !== true) count(summary, diff);
      if (query.conflictsOnly && !diff.conflict) continue;
      if (from && Buffer.compare(idOf(diff), from) <= 0) continue;
      if (documents.length < query.limit && bytes <= pageBytes) {
        documents.push(diff);
        bytes += valueBytes(diff);
      } else next ??= toBase64(idOf(documents[documents.length - 1] ?? diff));
    }
    if (query.listing === true && next !== undefined) break;
  }
  return { summary, documents, next };
}

function valueBytes({ fields }: ListedDocument): number {
  return fields.reduce(
    (sum, { base, parent, branch }) => sum + (base?.length ?? 0) + (parent?.length ?? 0) + (branch?.length ?? 0),
    0,
  );
}

/** @throws ForkyardError `usage` */
function pageStart({ after }: DiffQuery): Uint8Array | undefined {
  if (after === undefined) return undefined;
  try {
    return fromBase64(after);
  } catch (cause) {
    throw new ForkyardError('usage', `"${after}" is not where a page of this review ended.`, {
      hint: 'Pass the `next` of the page before.',
      cause,
    });
  }
}

/** What is never captured, where it was written. */
export function adminGap(branchId: string): GapRecord {
  const reason =
    'Ordinary collections of the admin database were written, which is not captured: look at them by hand, they are neither compared nor adopted.';
  return { _id: 'admin', branch: branchId, kind: 'admin', ns: 'admin', reason, settled: false };
}

/** Changes that wait to be recorded until the disk has room. */
export function pausedGaps(...sides: readonly Side[]): GapRecord[] {
  const waiting = sides.filter(({ capture }) => capture.paused);
  return waiting.map(({ record: { _id, name } }) => {
    const reason = `${pausedText(name)}: changes since are not in this list yet.`;
    return { _id: `paused ${_id}`, branch: _id, kind: 'paused', reason, settled: false };
  });
}

/** A created or dropped collection tells how many documents it holds. */
export async function withCount(
  { branch, parent }: Pick<Comparison, 'branch' | 'parent'>,
  delta: SchemaDelta,
): Promise<SchemaDelta> {
  if (delta.type !== 'collection') return delta;
  const [db, name] = splitNamespace(delta.ns);
  const side = delta.kind === 'removed' ? parent : branch;
  return { ...delta, documents: await side.client.db(db).collection(name).estimatedDocumentCount() };
}

async function openGaps(home: Home, branch: Side): Promise<GapRecord[]> {
  return home.gaps.find({ branch: branch.record._id }).toArray();
}

/** Where pages of differences begin, and how they are read. */
interface Paging {
  /** Only what is behind this row. */
  readonly after?: Uint8Array | undefined;
  /** How many rows are read first, where few are likely to do: then more at a time, and none before they are asked for. */
  readonly rows?: number;
}

/** Every touched document that differs, a page at a time. Without `rows` the next page is read while one is compared. */
export async function* comparedPages(
  comparison: Comparison,
  selection: Selection,
  paging: Paging = {},
): AsyncGenerator<DocumentDiff[]> {
  if (!selection.isPartial) {
    yield* pagesWithin(comparison, selection, undefined, paging);
    return;
  }
  const { after } = paging;
  const { base, parentCatalog, branchCatalog } = comparison;
  // In the order of the rows, so that a page can begin behind any of them.
  for (const [uuid, { ns }] of [...branchCatalog.byStore].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const parentNs = parentCollection(uuid, base, parentCatalog, branchCatalog)?.ns;
    if (!selection.touchesNamespace(ns) && (parentNs === undefined || !selection.touchesNamespace(parentNs))) continue;
    const within = Buffer.from(uuid, 'hex');
    // A row's id begins with its collection's.
    const order = after === undefined ? 1 : Buffer.compare(within, after.subarray(0, within.length));
    if (order >= 0)
      yield* pagesWithin(comparison, selection, within, { ...paging, after: order === 0 ? after : undefined });
  }
}

async function* pagesWithin(
  comparison: Comparison,
  selection: Selection,
  uuid: Uint8Array | undefined,
  { after, rows }: Paging,
): AsyncGenerator<DocumentDiff[]> {
  let size = Math.min(comparePage, rows ?? comparePage);
  let pending: Promise<SidesPage> | undefined = nextSides(comparison, uuid, after, size);
  while (pending) {
    const { sides, last }: SidesPage = await pending;
    const readOn = (): Promise<SidesPage> | undefined => last && nextSides(comparison, uuid, last.id, size);
    size = Math.min(comparePage, size * 2);
    pending = rows === undefined ? readOn() : undefined;
    pending?.catch(() => undefined);
    yield sides.flatMap((document) => {
      const place = { ns: document.ns, parentNs: document.parentNs, key: document.row.key };
      if (!selection.touchesDocument(place)) return [];
      const delta = compareDocument(document, { strict: selection.strict, whole: document.isBucket });
      if (!delta) return [];
      const measurements = document.isBucket ? measurementDelta(document) : undefined;
      return [{ ns: document.ns, key: document.row.key, ...delta, measurements, sides: document }];
    });
    if (rows !== undefined) pending = readOn();
  }
}

interface SidesPage {
  readonly sides: TouchedDocument[];
  readonly last: TouchedRecord | undefined;
}

async function nextSides(
  comparison: Comparison,
  uuid: Uint8Array | undefined,
  after: Uint8Array | undefined,
  size: number,
): Promise<SidesPage> {
  const rows = await comparison.branch.history.touched.page(after, size, uuid);
  const last = rows.length === size ? rows[rows.length - 1] : undefined;
  return { sides: await readSides(comparison, rows), last };
}

function count(summary: Map<string, NamespaceCounts>, diff: ListedDocument): void {
  let counts = summary.get(diff.ns);
  if (!counts) summary.set(diff.ns, (counts = nothing()));
  const listed = { added: 0, modified: 0, removed: 0, [diff.kind]: 1 };
  // Measurements are what a time-series collection holds, for everybody but the server.
  add(counts, diff.measurements ?? listed, diff.conflict);
  if (diff.measurements) add((counts.buckets ??= nothing()), listed, diff.conflict);
}

function nothing(): Counts {
  return { added: 0, modified: 0, removed: 0, conflicts: 0 };
}

function add(counts: Counts, { added, modified, removed }: MeasurementCounts, conflict: boolean): void {
  counts.added += added;
  counts.modified += modified;
  counts.removed += removed;
  if (conflict) counts.conflicts += added + modified + removed;
}
