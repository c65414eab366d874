import type { Input } from '../../../shared/api.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import type { Call, Command } from '../command.ts';
import { documentJson } from '../shapes.ts';
import { printApplied } from './adopt.ts';
import { partialFlag, requireWhole } from './restore.ts';

type What = Input<'changes.undo'>['what'];

export const undo: Command = {
  name: 'undo',
  operands: ['ENTRY|BRANCH'],
  flags: {
    seq: { value: '5..9', text: 'these changes of BRANCH: 7, 5..9, 3,5,7' },
    transaction: { value: 'ID', text: 'the changes of this transaction of BRANCH' },
    actor: { value: 'NAME', text: 'all changes of BRANCH by this actor' },
    ...partialFlag,
  },
  summary: 'Take back an entry of the log, or changes inside a branch',
  notes: [
    '`forkyard undo ENTRY` takes back an adoption, a restore, a reset, a discard, an expiry or an undo; `forkyard log` lists the entries.',
    'With --seq, --transaction or --actor it takes changes of a branch back, field by field: what others changed later in the same documents stays. Where the same was changed again it exits 3, names it, and changes nothing.',
  ],
  async run(call) {
    const what = whatOf(call);
    if (what !== undefined) return undoChanges(call, what);
    const [entry = ''] = call.operands;
    const engine = await call.engine();
    const { branch, ...answer } = await engine.call('log.undo', { entry });
    if (branch === undefined) return printApplied(call, answer);
    call.print.result(
      () => ({ applied: answer.applied, entry: answer.entry }),
      () => `${branch} is back as it was, under the same URI.`,
    );
    return 0;
  },
};

function whatOf(call: Call): What | undefined {
  const [seq, transaction, actor] = [call.text('seq'), call.text('transaction'), call.text('actor')];
  if ([seq, transaction, actor].filter((each) => each !== undefined).length > 1) {
    throw new ForkyardError('usage', '`forkyard undo` takes one of --seq, --transaction and --actor.');
  }
  if (transaction !== undefined) return { transaction };
  if (actor !== undefined) return { actor };
  return seq === undefined ? undefined : seqsOf(seq);
}

function seqsOf(text: string): What {
  const range = /^(\d{1,15})\.\.(\d{1,15})$/.exec(text);
  if (range) {
    const [from, to] = [Number(range[1]), Number(range[2])];
    if (from > 0 && from <= to) return { from, to };
  } else if (/^\d{1,15}(,\d{1,15})*$/.test(text)) {
    const seqs = text.split(',').map(Number);
    if (!seqs.includes(0)) return { seqs };
  }
  throw new ForkyardError('usage', `--seq takes numbers of changes, not "${text}".`, {
    hint: 'Write 7, 5..9 or 3,5,7; `forkyard changes BRANCH` lists them.',
  });
}

/** So many conflicts are told in words. */
const named = 3;

async function undoChanges(call: Call, what: What): Promise<number> {
  const [branch = ''] = call.operands;
  const engine = await call.engine();
  const plan = await engine.call('changes.undo', { branch, what }, { signal: call.signal });
  if (plan.conflicts > 0) {
    const left = plan.leftOut ?? [];
    const sentences = plan.checks.flatMap(({ ok, detail }) => (ok || left.includes(detail) ? [] : [detail]));
    const more = sentences.length > named ? [`And ${sentences.length - named} more.`] : [];
    throw new ForkyardError('conflicts', ['Nothing was taken back.', ...sentences.slice(0, named), ...more].join(' '), {
      hint: 'Take back what changed them later first, or change them by hand.',
      details: { conflicts: plan.conflicts, plan: plan.plan, documents: plan.conflicting.map(documentJson) },
    });
  }
  requireWhole(call, branch, plan.leftOut);
  return printApplied(call, await engine.call('plan.apply', { plan: plan.plan }));
}
