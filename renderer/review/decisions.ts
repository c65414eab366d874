import type { Bson, Decision, DocumentChange, FieldPath } from '../../shared/api.ts';
import { fieldKey } from './selection.ts';

export type Side = 'parent' | 'branch';

/** A side taken, with the values it was taken between: when one of them moves, the decision is asked for again. */
export interface Decided {
  readonly side: Side;
  readonly path: FieldPath;
  readonly parent: Bson | undefined;
  readonly branch: Bson | undefined;
}

/** Decisions of conflicting fields by {@link placeKey}. */
export type Decisions = ReadonlyMap<string, Decided>;

export interface ConflictPlace {
  readonly ns: string;
  readonly id: Bson;
  readonly path: FieldPath;
  readonly base: Bson | undefined;
  readonly parent: Bson | undefined;
  readonly branch: Bson | undefined;
}

export function placeKey(place: Pick<ConflictPlace, 'ns' | 'id' | 'path'>): string {
  return `${place.ns}\n${place.id}\n${fieldKey(place.path)}`;
}

/** The fields of a document that must be decided. */
export function conflictPlaces(document: DocumentChange): ConflictPlace[] {
  return document.fields
    .filter((field) => field.class === 'divergent')
    .map(({ path, base, parent, branch }) => ({ ns: document.ns, id: document.id, path, base, parent, branch }));
}

export function withDecision(decisions: Decisions, place: ConflictPlace, side: Side): Decisions {
  const { path, parent, branch } = place;
  return new Map(decisions).set(placeKey(place), { side, path, parent, branch });
}

export function decisionOf(decisions: Decisions, place: ConflictPlace): Side | undefined {
  return decisions.get(placeKey(place))?.side;
}

export function isDecided(decisions: Decisions, document: DocumentChange): boolean {
  return conflictPlaces(document).every((place) => decisions.has(placeKey(place)));
}

/** Whether adopting the decided document changes the parent at all: taking the parent's side everywhere does not. */
export function changesParent(decisions: Decisions, document: DocumentChange): boolean {
  return (
    document.fields.some((field) => field.class === 'clean') ||
    conflictPlaces(document).some((place) => decisionOf(decisions, place) === 'branch')
  );
}

/** Those whose sides are still as they were when decided. */
export function keepDecisions(decisions: Decisions, conflicts: readonly DocumentChange[]): Decisions {
  if (decisions.size === 0) return decisions;
  const kept = new Map<string, Decided>();
  for (const place of conflicts.flatMap(conflictPlaces)) {
    const key = placeKey(place);
    const decided = decisions.get(key);
    if (decided !== undefined && decided.parent === place.parent && decided.branch === place.branch)
      kept.set(key, decided);
  }
  return kept;
}

/** As a plan takes them: each place with the name of the branch whose side is taken. */
export function planDecisions(
  decisions: Decisions,
  conflicts: readonly DocumentChange[],
  names: Readonly<Record<Side, string>>,
): Decision[] {
  return conflicts.flatMap((document) =>
    conflictPlaces(document).flatMap((place): Decision[] => {
      const side = decisionOf(decisions, place);
      if (side === undefined) return [];
      const { ns, id, path } = place;
      const target = path.length === 0 ? { ns, id } : { ns, id, path };
      return [{ target, take: { side: names[side] } }];
    }),
  );
}
