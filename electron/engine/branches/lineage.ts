import { ForkyardError } from '../../../shared/errors.ts';
import type { Kin, Lineage } from '../changes/lineage.ts';
import { History } from '../home/history.ts';
import type { LocalBranch } from './local-branch.ts';
import type { Workspace } from './workspace.ts';

/**
 * How two branches are related. Branches in between need not run, and may lie in the trash.
 * @throws ForkyardError `usage` where they are one, or share nothing
 */
export async function lineageOf(workspace: Workspace, branch: LocalBranch, other: LocalBranch): Promise<Lineage> {
  const [a, b] = [branch.record.name, other.record.name];
  if (branch === other) {
    throw new ForkyardError('usage', `${a} cannot be compared with itself.`, { hint: 'Name another branch.' });
  }
  const [mine, theirs] = await Promise.all([lineUp(workspace, branch), lineUp(workspace, other)]);
  const ids = new Map(theirs.map(({ record }, index) => [record._id, index]));
  const at = mine.findIndex(({ record }) => ids.has(record._id));
  const ancestor = mine[at];
  if (!ancestor) {
    throw new ForkyardError('usage', `${a} and ${b} cannot be compared: a branch that they came from is gone.`, {
      hint: 'Only branches with a common ancestor that is still known can be compared.',
    });
  }
  const down = (line: readonly Kin[], index: number) => line.slice(0, index).reverse();
  const lineage = { ancestor, branch: down(mine, at), other: down(theirs, ids.get(ancestor.record._id)!) };
  const empty = [...lineage.branch, ...lineage.other].find(({ record }) => record.empty);
  if (empty) {
    const { name } = empty.record;
    throw new ForkyardError('usage', `${a} and ${b} cannot be compared: ${name} began empty, so they share nothing.`, {
      hint: `What ${name} holds is what "forkyard diff ${name}" shows.`,
    });
  }
  return lineage;
}

/** A branch and those it came from, up to main. */
async function lineUp(workspace: Workspace, branch: LocalBranch): Promise<Kin[]> {
  const line: Kin[] = [{ record: branch.record, history: branch.history, running: branch }];
  for (let id = branch.record.parent; id !== undefined;) {
    const record = await workspace.home.branches.findOne({ _id: id });
    if (!record) break;
    line.push({
      record,
      history: new History(workspace.home, record._id),
      running: await workspace.running(record._id),
    });
    id = record.parent;
  }
  return line;
}
