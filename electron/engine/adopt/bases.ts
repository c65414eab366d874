import { sameBytes } from '../../../shared/bson/value.ts';
import { baseOf } from '../changes/touched.ts';
import type { History } from '../home/history.ts';
import type { PlanItemRecord } from '../home/plans.ts';
import type { BaseOverride, TouchedRecord } from '../home/records.ts';
import { inverseOf } from './inverse.ts';

type MovedBase = PlanItemRecord['touched'];

/**
 * How the bases of a plan's documents move back when it is taken back, item by item. A base that a later adoption moved
 * on keeps what that one decided.
 */
export async function basesBack(history: History, items: readonly PlanItemRecord[]): Promise<MovedBase[]> {
  const ids = items.flatMap(({ touched }) => (touched ? [touched.id] : []));
  if (ids.length === 0) return items.map(() => undefined);
  const rows = new Map((await history.touched.rows(ids)).map((row) => [idText(row.id), row]));
  const movedOn = items.flatMap(({ touched }) => {
    const row = touched && rows.get(idText(touched.id));
    return row && !sameBase(row.base, touched.to) ? [row.first] : [];
  });
  const firsts = await history.changes.bySeq(movedOn, { before: true });
  return items.map(({ touched, expect }) => {
    const row = touched && rows.get(idText(touched.id));
    if (!row) return touched && { id: touched.id, from: touched.to, to: touched.from };
    if (sameBase(row.base, touched.to)) return { id: touched.id, from: row.base, to: touched.from };
    const document = (base: BaseOverride | undefined) => (base ? base.document : baseOf(firsts.get(row.first), expect));
    const change = { before: document(touched.from), after: document(touched.to) };
    return { id: touched.id, from: row.base, to: { document: inverseOf(document(row.base), [change]).result } };
  });
}

function idText(id: TouchedRecord['id']): string {
  return Buffer.from(id).toString('base64');
}

function sameBase(a: BaseOverride | undefined, b: BaseOverride | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && sameBytes(a.document, b.document));
}
