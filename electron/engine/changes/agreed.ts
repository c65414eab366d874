import type { Home } from '../home/home.ts';
import type { AgreedPart } from '../home/plans.ts';
import { Catalog, type CollectionSchema } from './catalog.ts';
import { namesOf, setPart, type CatalogModel } from './definition.ts';

/** What one plan settled. */
export interface Agreement {
  readonly plan: string;
  readonly parts: readonly AgreedPart[];
}

/**
 * The catalog at the fork with everything both sides have agreed on since: a base moves with an adoption, for the schema as
 * for documents. So what main changes later is no conflict with what it took, and what the branch drops later is a change.
 */
export function withAgreed(atFork: Catalog, agreements: readonly Agreement[]): Catalog {
  if (agreements.length === 0) return atFork;
  const model: CatalogModel = new Map(atFork.byNamespace);
  for (const { parts } of agreements) agree(model, parts);
  return new Catalog([...model.values()]);
}

/** In the order in which names become free: what goes, then all renames at once, then what comes. */
function agree(model: CatalogModel, parts: readonly AgreedPart[]): void {
  const nameOf = (uuid: string) => [...model.values()].find((collection) => collection.uuid === uuid)?.ns;
  /** Under the base's own name of its collection; undefined where the base has none. */
  const placed = (part: AgreedPart) => {
    const ns = part.uuid === undefined ? part.ns : nameOf(part.uuid);
    return ns === undefined ? undefined : { ...part, ns };
  };
  const isWhole = ({ type }: AgreedPart) => type === 'collection' || type === 'view';
  for (const part of parts) {
    const gone = isWhole(part) && part.definition === undefined ? placed(part) : undefined;
    if (gone) setPart(model, gone);
  }
  const renamed: CollectionSchema[] = [];
  for (const part of parts) {
    const from = part.type === 'rename' ? placed(part)?.ns : undefined;
    const collection = from === undefined ? undefined : model.get(from);
    if (from === undefined || !collection || part.to === undefined) continue;
    model.delete(from);
    renamed.push({ ...collection, ...namesOf(part.to) });
  }
  for (const collection of renamed) model.set(collection.ns, collection);
  for (const part of parts) if (isWhole(part) && part.definition !== undefined) setPart(model, part);
  for (const part of parts) {
    const changed = isWhole(part) || part.type === 'rename' ? undefined : placed(part);
    if (changed) setPart(model, changed);
  }
}

interface AgreedRow {
  _id: string;
  agreed?: Agreement[];
}

/** Adds what a plan settled to a branch's base; a second time changes nothing. */
export async function storeAgreement(home: Home, branchId: string, agreement: Agreement): Promise<void> {
  await dropAgreement(home, branchId, agreement.plan);
  await rows(home).updateOne({ _id: branchId }, { $push: { agreed: agreement } });
}

/** Takes what a plan settled out of a branch's base. */
export async function dropAgreement(home: Home, branchId: string, plan: string): Promise<void> {
  await rows(home).updateOne({ _id: branchId }, { $pull: { agreed: { plan } } });
}

function rows(home: Home) {
  return home.catalog.collection<AgreedRow>('schemas');
}
