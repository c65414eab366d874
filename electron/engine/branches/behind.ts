import { sameBytes } from '../../../shared/bson/value.ts';
import { loadBaseCatalog } from '../changes/base-catalog.ts';
import { readCatalog, type Catalog } from '../changes/catalog.ts';
import { compareSchema } from '../changes/schema.ts';
import { hasAfter, uuidText } from '../changes/touched.ts';
import {
  changedByEngineAfter,
  countChangedAfter,
  lastSchemaEvent,
  type ChangedDocument,
} from '../home/changed-since.ts';
import type { History } from '../home/history.ts';
import { importedAfter } from '../home/past.ts';
import { touchedId } from '../home/touched-id.ts';
import type { Home } from '../home/home.ts';
import type { BranchRecord } from '../home/records.ts';
import type { LocalBranch } from './local-branch.ts';

const page = 1_000;

/**
 * How far a branch is behind its parent: documents that the parent changed since the fork, and schema items that it has
 * otherwise. What both have agreed on is not counted: what came from the branch, and what an undo put back as it was.
 */
export class Behind {
  private readonly home: Home;
  private readonly counts = new Map<string, { readonly at: string; readonly count: number }>();
  private readonly catalogs = new Map<string, { readonly at: number; readonly catalog: Promise<Catalog> }>();

  constructor(home: Home) {
    this.home = home;
  }

  /** Undefined until it is known where in the parent's history the branch left it. */
  async count(record: BranchRecord, history: History, parent: LocalBranch): Promise<number | undefined> {
    const seq = record.forkPoint?.seq;
    if (seq === undefined) return undefined;
    if (parent.capture.seq <= seq) return 0;
    // What was agreed on moves with the log, an adoption's last step is behind its writes; so is the end of an import.
    const entries = await this.home.log.countDocuments({ branchId: { $in: [record._id, parent.record._id] } });
    const at = `${seq}-${parent.capture.seq}-${entries}`;
    const known = this.counts.get(record._id);
    if (known?.at === at) return known.count;
    const count = await this.look(record, history, parent, seq);
    this.counts.set(record._id, { at, count });
    return count;
  }

  private async look(record: BranchRecord, history: History, parent: LocalBranch, seq: number): Promise<number> {
    const lastEvent = await lastSchemaEvent(this.home, parent.record._id);
    const catalog = lastEvent > seq ? await this.catalogOf(parent, lastEvent) : undefined;
    const isThere = (uuid: Uint8Array) => !catalog || catalog.byUuid.has(uuidText(uuid));
    let documents = 0;
    let byEngine = 0;
    const { changed: groups, hasImport } = await countChangedAfter(this.home, parent.record._id, seq);
    for (const group of groups) {
      if (!isThere(group.uuid)) continue;
      documents += group.count;
      byEngine += group.byEngine;
    }
    const imported = hasImport ? await countImportedAfter(this.home, parent, seq) : [];
    for (const [uuid, count] of imported) {
      if (!catalog || catalog.byUuid.has(uuid)) documents += count;
    }
    if (byEngine > 0) {
      const changed = await changedByEngineAfter(this.home, parent.record._id, seq);
      documents -= await agreedOn(
        history,
        parent.history,
        changed.filter(({ uuid }) => isThere(uuid)),
      );
    }
    if (!catalog) return documents;
    const base = (await loadBaseCatalog(this.home, record._id)).catalog;
    return documents + compareSchema(base, base, catalog).length;
  }

  /** Read again only where the history says that something became of it. */
  private catalogOf({ record, client }: LocalBranch, lastEvent: number): Promise<Catalog> {
    const known = this.catalogs.get(record._id);
    if (known?.at === lastEvent) return known.catalog;
    const catalog = readCatalog(client);
    this.catalogs.set(record._id, { at: lastEvent, catalog });
    catalog.catch(() => this.catalogs.delete(record._id));
    return catalog;
  }
}

/** How many documents imports after a sequence brought, by collection; none that {@link countChangedAfter} counts. */
async function countImportedAfter(
  home: Home,
  { record, history }: LocalBranch,
  seq: number,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const count = (uuid: string, by: number) => counts.set(uuid, (counts.get(uuid) ?? 0) + by);
  // Where an import's entry is not the only one, a change after `seq` may be among the others.
  const others = new Set<string>();
  for await (const documents of importedAfter(home, record._id, seq)) {
    for (const { id, uuid, first, last } of documents) {
      count(uuidText(uuid), 1);
      if (first !== last) others.add(idText(id));
    }
  }
  if (others.size === 0) return counts;
  for await (const changes of history.changes.keysAfter(seq)) {
    for (const { uuid, key } of changes) if (others.delete(idText(touchedId(uuid, key)))) count(uuidText(uuid), -1);
  }
  return counts;
}

/** How many of the documents are in the parent what both sides have agreed on: as at the fork, or as an adoption left them. */
async function agreedOn(branch: History, parent: History, changed: readonly ChangedDocument[]): Promise<number> {
  let agreed = 0;
  for (let start = 0; start < changed.length; start += page) {
    const documents = changed.slice(start, start + page);
    const [firsts, lasts, rows] = await Promise.all([
      parent.changes.bySeq([...new Set(documents.map(({ first }) => first))], { before: true }),
      parent.changes.bySeq([...new Set(documents.map(({ last }) => last))], { after: true }),
      branch.touched.rows(documents.map(({ uuid, key }) => touchedId(uuid, key))),
    ]);
    const bases = new Map(rows.flatMap(({ id, base }) => (base ? [[idText(id), base] as const] : [])));
    for (const { uuid, key, first, last } of documents) {
      const [change, latest] = [firsts.get(first), lasts.get(last)];
      const moved = bases.get(idText(touchedId(uuid, key)));
      const isKnown = moved !== undefined || change?.op === 'insert' || change?.before !== undefined;
      const base = moved ? moved.document : change?.before;
      if (isKnown && hasAfter(latest) && sameBytes(base, latest.after)) agreed += 1;
    }
  }
  return agreed;
}

function idText(id: Uint8Array): string {
  return Buffer.from(id).toString('base64');
}
