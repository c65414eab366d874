import type { Moment } from '../../../shared/api.ts';
import { parseTtl } from '../../../shared/duration.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import type { Call, Command } from '../command.ts';
import { plural } from '../text.ts';

/** What stays as it is where a way back is not whole. */
export const partialFlag = { partial: { text: 'go on where not everything can be put back' } } as const;

export const restore: Command = {
  name: 'restore',
  operands: ['BRANCH'],
  flags: {
    to: { value: 'SEQ|TIME', text: 'the moment: behind this change (0 = the beginning), or at this time' },
    as: { value: 'NAME', text: 'leave BRANCH alone: fork it as NAME and put that back' },
    ttl: { value: '1h', text: 'with --as: how long the fork lives (1h)' },
    ...partialFlag,
    preview: { text: 'only say what would change' },
  },
  summary: 'Put a branch back to a moment of its history, in place or as a new branch',
  notes: [
    'Times are ISO 8601, as in 2026-11-29T14:00:12Z. A moment inside a transaction is behind all of it.',
    'What cannot be put back is said first, and without --partial nothing is changed then. `forkyard undo ENTRY` takes a restore back.',
  ],
  async run(call) {
    const to = momentOf(call);
    if (call.on('preview')) return preview(call, to);
    return call.text('as') === undefined ? inPlace(call, to) : asBranch(call, to, call.text('as')!);
  },
};

/** `Date` alone would take `-1` for a month, and much else. */
const isoTime = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;

function momentOf(call: Call): Moment {
  const text = call.text('to');
  if (text === undefined) {
    throw new ForkyardError('usage', '`forkyard restore` needs --to SEQ or --to TIME.', {
      hint: '`forkyard changes BRANCH` lists the changes with their numbers.',
    });
  }
  if (/^\d{1,15}$/.test(text)) return { seq: Number(text) };
  const time = new Date(text);
  if (!isoTime.test(text) || Number.isNaN(time.getTime())) {
    throw new ForkyardError('usage', `--to takes the number of a change or a time, not "${text}".`, {
      hint: 'Write a time as in 2026-11-29T14:00:12Z.',
    });
  }
  return { time: time.toISOString() };
}

async function preview(call: Call, to: Moment): Promise<number> {
  const [branch = ''] = call.operands;
  const engine = await call.engine();
  const { at, summary, schema, leftOut } = await engine.call('restore.preview', { branch, to, limit: 0 });
  call.print.result(
    () => ({ branch, at, summary, schema, leftOut }),
    () =>
      [
        `Since change ${at.seq}${at.time === undefined ? '' : ` (${at.time})`} in ${branch}:`,
        ...summary.map(({ ns, added, modified, removed }) => `  ${ns}  +${added} ~${modified} -${removed}`),
        ...schema.map(({ text }) => `  ${text}`),
        ...(summary.length + schema.length === 0 ? ['  nothing'] : []),
        ...(leftOut ?? []).map((each) => `✗ ${each}`),
      ].join('\n'),
  );
  return 0;
}

async function inPlace(call: Call, to: Moment): Promise<number> {
  const [branch = ''] = call.operands;
  const engine = await call.engine();
  const plan = await engine.call('restore.plan', { branch, to }, { signal: call.signal });
  requireWhole(call, branch, plan.leftOut);
  const { applied, entry, leftOut } = await engine.call('plan.apply', { plan: plan.plan });
  call.print.result(
    () => ({ branch, applied, entry, at: plan.at, leftOut }),
    () =>
      [
        entry === undefined
          ? `Nothing to do: ${branch} is as it was then.`
          : `${branch} is as it was behind change ${plan.at.seq}: ${plural(applied, 'change')} applied as ${entry}; \`forkyard undo ${entry}\` takes it back.`,
        ...(leftOut ?? []).map((sentence) => `! ${sentence}`),
      ].join('\n'),
  );
  return 0;
}

async function asBranch(call: Call, to: Moment, as: string): Promise<number> {
  const [branch = ''] = call.operands;
  const ttl = call.text('ttl');
  const engine = await call.engine();
  const input = { branch, to, as, partial: call.on('partial'), ...(ttl === undefined ? {} : { ttlMs: parseTtl(ttl) }) };
  const { applied, entry, uri, at, leftOut } = await engine.call('restore.branch', input, { signal: call.signal });
  call.print.result(
    () => ({ branch: as, applied, entry, uri, at, leftOut }),
    () => [`${as} is ${branch} as it was behind change ${at.seq}`, ...(leftOut ?? []), uri].join('\n'),
  );
  return 0;
}

/** What cannot be put back is said before anything is. */
export function requireWhole(call: Call, branch: string, leftOut: readonly string[] | undefined): void {
  if (!leftOut || call.on('partial')) return;
  throw new ForkyardError('restore_incomplete', `Not all of ${branch} can be put back: ${leftOut.join(' ')}`, {
    hint: 'With --partial everything else is put back. Nothing was changed.',
    details: { leftOut: [...leftOut] },
  });
}
