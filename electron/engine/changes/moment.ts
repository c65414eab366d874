import type { Moment } from '../../../shared/api.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { lastMarkAt, marks } from '../home/past.ts';
import type { Home } from '../home/home.ts';
import type { Side } from './side.ts';

/** A moment of a branch: behind the change with this sequence, 0 = as the branch began. */
export interface MomentAt {
  readonly seq: number;
  /** When that change happened. */
  readonly time: Date | undefined;
}

/**
 * Finds a moment in a branch's history, up to `last`. One inside a transaction is behind all of it: its writes became
 * visible together, so there never was a state with a part of them.
 * @throws ForkyardError `usage` where the branch has no such moment
 */
export async function momentOf(home: Home, side: Pick<Side, 'record'>, last: number, to: Moment): Promise<MomentAt> {
  const { _id, name, forkedAt } = side.record;
  if ('seq' in to) {
    if (to.seq > last) {
      throw new ForkyardError('usage', `${name} has no change ${to.seq}: its last one is ${last}.`, {
        hint: `"forkyard changes ${name}" lists them; 0 is before the first.`,
      });
    }
    return behindTransaction(home, _id, last, to.seq === 0 ? undefined : await lastMarkAt(home, _id, { seq: to.seq }));
  }
  const time = new Date(to.time);
  if (Number.isNaN(time.getTime())) {
    throw new ForkyardError('usage', `"${to.time}" is no time.`, { hint: 'Write it as in 2026-11-29T14:00:12Z.' });
  }
  if (time < forkedAt) {
    throw new ForkyardError('usage', `${name} did not exist at ${to.time}: it began ${forkedAt.toISOString()}.`, {
      hint: 'Name a later moment.',
    });
  }
  const mark = await lastMarkAt(home, _id, { time });
  return behindTransaction(
    home,
    _id,
    last,
    mark && mark.seq <= last ? mark : await lastMarkAt(home, _id, { seq: last }),
  );
}

async function behindTransaction(
  home: Home,
  branchId: string,
  last: number,
  mark: Awaited<ReturnType<typeof lastMarkAt>>,
): Promise<MomentAt> {
  if (!mark) return { seq: 0, time: undefined };
  let { seq } = mark;
  if (mark.transaction !== undefined) {
    search: for await (const page of marks(home, branchId, { after: seq, upTo: last })) {
      for (const next of page) {
        if (next.transaction !== mark.transaction) break search;
        seq = next.seq;
      }
    }
  }
  return { seq, time: mark.wall };
}
