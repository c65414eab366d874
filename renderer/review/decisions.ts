import type { Bson, BranchRow, Decision, DocumentChange, FieldPath, SchemaChange } from '../../shared/api.ts';
import type { z } from 'zod';
import { fieldKey, schemaKey, schemaTarget } from './selection.ts';

export type Side = 'parent' | 'branch';
type Schema = z.infer<typeof SchemaChange>;

/** What is to become of a place: a side as it is, or a value that was typed. */
export type Choice = { readonly side: Side } | { readonly value: Bson };

/** A choice with the values it was made between: when one of them moves, it is asked for again. */
export interface Decided {
  readonly choice: Choice;
  readonly parent: Bson | undefined;
  readonly branch: Bson | undefined;
}

/** Decisions by {@link placeKey}. */
export type Decisions = ReadonlyMap<string, Decided>;

/** Places whose decision was given up, with the side that moved. */
export type Reopened = ReadonlyMap<string, { readonly side: Side; readonly at: string }>;

/** A place that both sides changed otherwise: of a document, or a schema item. */
export interface ConflictPlace {
  readonly ns: string;
  /** Left out for a schema item. */
  readonly id?: Bson;
  readonly path: FieldPath;
  readonly schema?: Schema;
  readonly base: Bson | undefined;
  readonly parent: Bson | undefined;
  readonly branch: Bson | undefined;
}

export function placeKey(place: Pick<ConflictPlace, 'ns' | 'id' | 'path' | 'schema'>): string {
  if (place.schema !== undefined) return `schema ${schemaKey(place.schema)}`;
  return `${place.ns}\n${place.id ?? ''}\n${fieldKey(place.path)}`;
}

/** The fields of a document that must be decided. */
export function conflictPlaces(document: DocumentChange): ConflictPlace[] {
  return document.fields
    .filter((field) => field.class === 'divergent')
    .map(({ path, base, parent, branch }) => ({ ns: document.ns, id: document.id, path, base, parent, branch }));
}

/** A schema item as the one place there is to decide; undefined where it is in no conflict. */
export function schemaPlace(item: Schema): ConflictPlace | undefined {
  const { ns, base, parent, branch } = item;
  return item.conflict ? { ns, path: [], schema: item, base, parent, branch } : undefined;
}

export function withDecision(decisions: Decisions, place: ConflictPlace, choice: Choice): Decisions {
  const { parent, branch } = place;
  return new Map(decisions).set(placeKey(place), { choice, parent, branch });
}

export function withoutDecision(decisions: Decisions, place: ConflictPlace): Decisions {
  const left = new Map(decisions);
  left.delete(placeKey(place));
  return left;
}

export function decisionOf(
  decisions: Decisions,
  place: Pick<ConflictPlace, 'ns' | 'id' | 'path' | 'schema'>,
): Choice | undefined {
  return decisions.get(placeKey(place))?.choice;
}

export function takes(decisions: Decisions, place: ConflictPlace, side: Side): boolean {
  const choice = decisionOf(decisions, place);
  return choice !== undefined && 'side' in choice && choice.side === side;
}

/** The value a choice leaves in the parent; undefined where that is none. */
export function resultOf(place: ConflictPlace, choice: Choice): Bson | undefined {
  return 'value' in choice ? choice.value : place[choice.side];
}

export function isDecided(decisions: Decisions, document: DocumentChange): boolean {
  return conflictPlaces(document).every((place) => decisions.has(placeKey(place)));
}

/** Whether adopting the decided document changes the parent at all: taking the parent's side everywhere does not. */
export function changesParent(decisions: Decisions, document: DocumentChange): boolean {
  return (
    document.fields.some((field) => field.class === 'clean') ||
    conflictPlaces(document).some((place) => {
      const choice = decisionOf(decisions, place);
      return choice !== undefined && resultOf(place, choice) !== place.parent;
    })
  );
}

/** Those whose sides are still as they were when decided, and which were given up because a side moved at `at`. */
export function keepDecisions(
  decisions: Decisions,
  places: readonly ConflictPlace[],
  at: string,
): { readonly decisions: Decisions; readonly reopened: Reopened } {
  const kept = new Map<string, Decided>();
  const reopened = new Map<string, { side: Side; at: string }>();
  for (const place of places) {
    const key = placeKey(place);
    const decided = decisions.get(key);
    if (decided === undefined) continue;
    if (decided.parent === place.parent && decided.branch === place.branch) kept.set(key, decided);
    else reopened.set(key, { side: decided.parent === place.parent ? 'branch' : 'parent', at });
  }
  return { decisions: kept, reopened };
}

/** As a plan takes them: each place with the name of the branch whose side is taken, or the value that was typed. */
export function planDecisions(
  decisions: Decisions,
  places: readonly ConflictPlace[],
  names: Readonly<Record<Side, string>>,
): Decision[] {
  return places.flatMap((place): Decision[] => {
    const choice = decisionOf(decisions, place);
    if (choice === undefined) return [];
    const take = 'side' in choice ? { side: names[choice.side] } : { value: choice.value };
    const { ns, id, path, schema } = place;
    if (schema !== undefined) return [{ target: schemaTarget(schema), take }];
    return [{ target: { ns, ...(id === undefined ? {} : { id }), ...(path.length === 0 ? {} : { path }) }, take }];
  });
}

const mostKept = 500;

/** Decisions outlive the window: they are kept with it, by branch. A full store keeps what it had. */
export function rememberDecisions(branch: BranchRow['id'], decisions: Decisions): void {
  const key = storeKey(branch);
  try {
    if (decisions.size === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify([...decisions].slice(0, mostKept)));
  } catch {
    // Asked for again in the next window.
  }
}

export function rememberedDecisions(branch: BranchRow['id']): Decisions {
  try {
    return new Map(JSON.parse(localStorage.getItem(storeKey(branch)) ?? '[]') as [string, Decided][]);
  } catch {
    return new Map();
  }
}

/** Forgets what was decided for branches that are not there any more: it holds their data. */
export function forgetDecisions(isThere: (branch: BranchRow['id']) => boolean): void {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(storePrefix) && !isThere(key.slice(storePrefix.length))) localStorage.removeItem(key);
  }
}

const storePrefix = 'forkyard.decisions.';

function storeKey(branch: string): string {
  return `${storePrefix}${branch}`;
}
