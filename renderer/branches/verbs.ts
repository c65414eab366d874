import type { BranchRow, LogEntry } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import { copyText } from '../shell/clipboard.ts';
import { plural } from '../shell/numbers.ts';
import { moment } from '../shell/time.ts';
import { chooseBranch, chooseTab, showToast } from '../store/app.ts';
import { call } from '../store/engine.ts';

const hourMs = 3_600_000;

/** Runs a verb that has no dialog of its own to show an error in. */
async function told(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const { message, hint } = errorBody(error);
    showToast({ tone: 'problem', text: message, hint });
  }
}

export function copyUri(branch: BranchRow): Promise<void> {
  return told(async () => {
    const { uri, actor } = await call('branches.uri', { branch: branch.name });
    if (await copyText(uri)) showToast({ tone: 'done', text: `Copied the URI of ${branch.name}, for ${actor}` });
  });
}

export function keep(branch: BranchRow): Promise<void> {
  return told(async () => {
    await call('branches.keep', { branch: branch.name });
    showToast({ tone: 'done', text: `${branch.name} is kept until you discard it` });
  });
}

export function extend(branch: BranchRow): Promise<void> {
  return told(async () => {
    const answer = await call('branches.extend', { branch: branch.name, ttlMs: hourMs });
    const until = answer.branch.expiresAt;
    showToast({
      tone: 'done',
      text: until === undefined ? `${branch.name} is kept` : `${branch.name} lives until ${moment(until, Date.now())}`,
    });
  });
}

/** Brings an expired or discarded branch back under the same URI. */
export function bringBack(branch: BranchRow): Promise<void> {
  return told(async () => {
    const answer = await call('branches.wake', { branch: branch.name });
    chooseBranch(answer.branch.id);
    showToast({ tone: 'done', text: `${branch.name} is back, under the same URI` });
  });
}

/** Stops a sandbox's server; its deadline goes on, its files stay. */
export function sleep(branch: BranchRow): Promise<void> {
  return told(async () => {
    await call('branches.sleep', { branch: branch.name });
    showToast({
      tone: 'done',
      text: `${branch.name} sleeps`,
      actions: [{ label: 'Wake', run: () => void bringBack(branch) }],
    });
  });
}

export function undo(entry: Pick<LogEntry, 'entry'>): Promise<void> {
  return told(async () => {
    const { applied } = await call('log.undo', { entry: entry.entry });
    showToast({
      tone: 'done',
      text: `Undone, ${plural(applied, 'change')} taken back`,
      actions: [{ label: 'View', run: () => chooseTab('history') }],
    });
  });
}
