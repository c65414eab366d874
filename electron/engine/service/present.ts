import type { Change, DocumentChange, LogEntry, Output, SchemaChange } from '../../../shared/api.ts';
import { documentValue, toBase64 } from '../../../shared/bson/value.ts';
import { encoded, fieldChange } from '../../../shared/changes/field-change.ts';
import { isUndoable } from '../adopt/undo.ts';
import type { DiffResult, ListedDocument } from '../changes/diff.ts';
import type { SchemaDelta } from '../changes/schema.ts';
import type { PlanRecord } from '../home/plans.ts';
import type { ChangeRecord, LogRecord } from '../home/records.ts';

/** What the engine holds, as the API tells it: bytes become base64, absent stays absent. */
export function presentChange(change: ChangeRecord): Change {
  return {
    seq: change.seq,
    time: change.wall.toISOString(),
    op: change.op,
    ...(change.ns === undefined ? {} : { ns: change.ns }),
    ...encoded('id', change.key),
    ...(change.actor === undefined ? {} : { actor: change.actor }),
    ...(change.actors ? { actors: [...change.actors] } : {}),
    ...(change.transaction === undefined ? {} : { transaction: change.transaction }),
    ...encoded('before', change.before && documentValue(change.before)),
    ...encoded('after', change.after && documentValue(change.after)),
    ...(change.folded ? { folded: true } : {}),
    ...(change.detail ? { detail: { ...change.detail } } : {}),
  };
}

export function presentDiff(
  branch: string,
  parent: string,
  diff: DiffResult,
  withDocuments: boolean,
): Output<'diff.get'> {
  return {
    branch,
    parent,
    complete: diff.complete,
    gaps: diff.gaps.map((gap) => ({
      ...(gap.ns === undefined ? {} : { ns: gap.ns }),
      ...(gap.from ? { from: gap.from.toISOString() } : {}),
      ...(gap.to ? { to: gap.to.toISOString() } : {}),
      reason: gap.reason,
      settled: gap.settled,
    })),
    summary: [...diff.summary].map(([ns, counts]) => ({ ns, ...counts })).sort((a, b) => (a.ns < b.ns ? -1 : 1)),
    schema: diff.schema.map(presentSchema),
    documents: withDocuments ? diff.documents.map(presentDocument) : [],
    ...(withDocuments && diff.next !== undefined ? { next: diff.next } : {}),
    comparedAt: new Date().toISOString(),
  };
}

export function presentDocument(diff: ListedDocument): DocumentChange {
  return {
    ns: diff.ns,
    id: toBase64(diff.key),
    kind: diff.kind,
    conflict: diff.conflict,
    fields: diff.fields.map(fieldChange),
    ...(diff.parentFields ? { parentFields: diff.parentFields.map(fieldChange) } : {}),
    ...(diff.measurements ? { measurements: diff.measurements } : {}),
  };
}

/** Whole documents; a side that has none is left out. */
export function presentSides(sides: {
  readonly base: Uint8Array | undefined;
  readonly parent: Uint8Array | undefined;
  readonly branch: Uint8Array | undefined;
}): Pick<Output<'diff.document'>, 'base' | 'parent' | 'branch'> {
  return {
    ...encoded('base', sides.base && documentValue(sides.base)),
    ...encoded('parent', sides.parent && documentValue(sides.parent)),
    ...encoded('branch', sides.branch && documentValue(sides.branch)),
  };
}

function presentSchema(delta: SchemaDelta): SchemaChange {
  return {
    type: delta.type,
    kind: delta.kind,
    ns: delta.ns,
    ...(delta.name === undefined ? {} : { name: delta.name }),
    ...(delta.documents === undefined ? {} : { documents: delta.documents }),
    ...encoded('base', delta.base),
    ...encoded('parent', delta.parent),
    ...encoded('branch', delta.branch),
    conflict: delta.conflict,
    ...(delta.edited ? { edited: delta.edited.slice(0, 100).map(toBase64) } : {}),
  };
}

export function presentPlan({ _id, items, conflicts, checks }: PlanRecord) {
  return { plan: _id, items, conflicts, checks: checks.map((check) => ({ ...check })) };
}

/** A plan that goes back, with what of it cannot be. */
export function presentWayBack(plan: PlanRecord) {
  return { ...presentPlan(plan), ...(plan.leftOut ? { leftOut: [...plan.leftOut] } : {}) };
}

export function presentLog(entry: LogRecord): LogEntry {
  return {
    entry: entry._id,
    time: entry.time.toISOString(),
    kind: entry.kind,
    branch: entry.branch,
    ...(entry.actor === undefined ? {} : { actor: entry.actor }),
    ...(entry.items === undefined ? {} : { items: entry.items }),
    ...(entry.undoneBy === undefined ? {} : { undoneBy: entry.undoneBy }),
    text: entry.text,
    undoable: isUndoable(entry),
    ...(entry.plan === undefined ? {} : { previewable: true }),
  };
}
