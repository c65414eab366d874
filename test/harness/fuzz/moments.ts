import type { Change } from '../../../shared/api.ts';
import type { TestYard } from '../in-process.ts';
import type { Random } from './random.ts';
import { Replay } from './replay.ts';
import { snapshot, snapshotDifferences, type Snapshot } from './snapshot.ts';

/**
 * Restores random moments of a branch, each as a branch of its own, and compares them by bytes with a replica that was
 * replayed to there from the branch's history.
 * @param start what the branch began with
 * @param changes its whole history
 */
export async function momentDifferences(
  random: Random,
  yard: TestYard,
  branch: string,
  start: Snapshot,
  changes: readonly Change[],
  count: number,
): Promise<string[]> {
  const problems: string[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    const seq = random.int(changes.length + 1);
    const name = `${branch}-at-${turn}`;
    const { at, leftOut } = await yard.call('restore.branch', {
      branch,
      to: { seq },
      as: name,
      partial: true,
      ttlMs: null,
    });
    const wanted = endOfTransaction(changes, seq);
    if (at.seq !== wanted) problems.push(`${seq} was taken for ${at.seq}, not ${wanted}`);
    const replay = new Replay(start);
    for (const change of changes) if (change.seq <= at.seq) replay.apply(change);
    const found = snapshotDifferences(await snapshot(await yard.client(name)), replay.snapshot());
    // What it says it could not restore is no claim.
    const claimed = found.filter(({ ns }) => !leftOut?.some((sentence) => sentence.includes(ns)));
    problems.push(...claimed.map(({ ns, text }) => `restored to ${at.seq}: ${ns}: ${text}`));
    await yard.call('branches.discard', { branch: name, now: true });
  }
  return problems;
}

/** Writes of one transaction happened together. */
function endOfTransaction(changes: readonly Change[], seq: number): number {
  const transaction = changes[seq - 1]?.transaction;
  let end = seq;
  while (transaction !== undefined && changes[end]?.transaction === transaction) end += 1;
  return end;
}
