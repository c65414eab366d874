import type { Input } from '../../../shared/api.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import type { Client } from '../../../shared/rpc/connect.ts';
import type { Call, Command } from '../command.ts';
import { changeJson } from '../shapes.ts';

const pageSize = 1000;
const followWaitMs = 30_000;

export const changes: Command = {
  name: 'changes',
  operands: ['BRANCH'],
  flags: {
    after: { value: 'SEQ', text: 'only what came behind this sequence number' },
    limit: { value: 'N', text: 'at most so many' },
    follow: { text: 'go on as they come, until interrupted' },
  },
  summary: 'Print the recorded writes of a branch, one JSON object a line',
  async run(call) {
    const after = call.count('after', 0, Number.MAX_SAFE_INTEGER) ?? 0;
    const limit = call.count('limit', 1, Number.MAX_SAFE_INTEGER) ?? Number.POSITIVE_INFINITY;
    const engine = await call.engine();
    try {
      await printPages(call, engine, after, limit);
    } catch (error) {
      // An interrupt is how a follower ends.
      const interrupted = error instanceof ForkyardError && error.code === 'aborted' && call.signal.aborted;
      if (!(interrupted && call.on('follow'))) throw error;
    }
    return 0;
  },
};

async function printPages(call: Call, engine: Client, start: number, limit: number): Promise<void> {
  const [branch = ''] = call.operands;
  const follow = call.on('follow');
  let after = start;
  let left = limit;
  let settled = false;
  while (left > 0) {
    const input: Input<'changes.page'> = {
      branch,
      after,
      limit: Math.min(left, pageSize),
      // First what is there by now, then what comes.
      ...(settled ? (follow ? { waitMs: followWaitMs } : {}) : { settle: true }),
    };
    const page = await engine.call('changes.page', input, { signal: call.signal });
    for (const change of page.changes) call.print.line(changeJson(change));
    left -= page.changes.length;
    after = page.changes.at(-1)?.seq ?? after;
    if (!settled && !page.complete) call.print.notice('The record is not complete: capture is behind, or has a gap.');
    settled = true;
    // A page of large documents is shorter than asked for: the end is where the history ends.
    if (!follow && (page.changes.length === 0 || after >= page.last)) return;
  }
}
