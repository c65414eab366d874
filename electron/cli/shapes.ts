/** What `--json` prints, from what the API answers. Scripts of other people rely on these shapes. */
import type {
  BranchRow,
  Change,
  Diff,
  DocumentChange,
  FieldChange,
  LogEntry,
  Output,
  SchemaChange,
} from '../../shared/api.ts';
import { ejson } from './json.ts';
import type { JsonText } from './json.ts';

const optional = (bson: string | undefined): JsonText | undefined => (bson === undefined ? undefined : ejson(bson));

export function branchRowJson(row: BranchRow): unknown {
  const { id, name, parent, state, expiresAt, ahead, behind, lagMs, documents, sizeBytes } = row;
  return { id, name, parent, state, expiresAt, ahead, behind, lagMs, documents, sizeBytes };
}

export function changeJson(change: Change): unknown {
  const { seq, time, op, ns, actor, actors, transaction, folded, detail } = change;
  const [id, before, after] = [optional(change.id), optional(change.before), optional(change.after)];
  return { seq, time, op, ns, id, actor, actors, transaction, before, after, folded, detail };
}

export function diffJson({ branch, parent, complete, gaps, summary, schema, documents, next }: Diff): unknown {
  return {
    branch,
    parent,
    complete,
    gaps,
    summary: summary.map(({ ns, added, modified, removed, conflicts }) => ({
      ns,
      added,
      modified,
      removed,
      conflicts,
    })),
    schema: schema.map(schemaJson),
    documents: documents.map(documentJson),
    next,
  };
}

function schemaJson({ type, kind, ns, name, documents, conflict, edited, ...sides }: SchemaChange): unknown {
  return { type, kind, ns, name, documents, ...sidesJson(sides), conflict, edited: edited?.map(ejson) };
}

export function documentJson({ ns, id, kind, conflict, fields, measurements }: DocumentChange): unknown {
  return { ns, id: ejson(id), kind, conflict, fields: fields.map(fieldJson), measurements };
}

function fieldJson({ path, order, class: merge, ...sides }: FieldChange): unknown {
  return { path, order, ...sidesJson(sides), class: merge };
}

/** A side that does not exist is left out. */
function sidesJson({ base, parent, branch }: Pick<FieldChange, 'base' | 'parent' | 'branch'>) {
  return { base: optional(base), parent: optional(parent), branch: optional(branch) };
}

export function importJson({ collections, problems }: Output<'transfer.import'>): unknown {
  return {
    collections,
    problems: problems.map(({ ns, line, id, message }) => ({ ns, line, id: optional(id), message })),
  };
}

export function planJson({ plan, items, conflicts, checks }: Output<'plan.create'>): unknown {
  return { plan, items, conflicts, checks };
}

export function logJson({ entry, time, kind, branch, actor, items, undoneBy }: LogEntry): unknown {
  return { entry, time, kind, branch, actor, items, undoneBy };
}

export function verificationJson({ differences, ...answer }: Output<'branches.verify'>): unknown {
  const first = differences.first.map(({ id, ...each }) => ({ ...each, id: ejson(id) }));
  return { ...answer, differences: { count: differences.count, first } };
}
