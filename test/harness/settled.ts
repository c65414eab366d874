import type { Change, Input, Output } from '../../shared/api.ts';
import type { TestYard } from './in-process.ts';

/** An answer that says itself whether it is complete, once it is: capture may lag, a comparison may be going on. */
export async function onceComplete<T extends { readonly complete: boolean }>(ask: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + 100_000; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
    const answer = await ask();
    if (answer.complete || performance.now() > deadline) return answer;
  }
}

/** A diff once it is complete. */
export function completeDiff(yard: TestYard, query: Input<'diff.get'>): Promise<Output<'diff.get'>> {
  return onceComplete(() => yard.call('diff.get', query));
}

/** Everything that a branch's history holds after `after`, settled. */
export async function allChanges(yard: TestYard, branch: string, after = 0): Promise<Change[]> {
  const all: Change[] = [];
  for (;;) {
    const from = all.at(-1)?.seq ?? after;
    const page = await onceComplete(() => yard.call('changes.page', { branch, settle: true, after: from }));
    if (!page.complete) throw new Error(`capture of ${branch} does not catch up`);
    if (page.changes.length === 0) return all;
    all.push(...page.changes);
  }
}
