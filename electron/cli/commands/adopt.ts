import type { Input, Output } from '../../../shared/api.ts';
import type { Call, Command, Flag } from '../command.ts';
import { planJson } from '../shapes.ts';
import { parseTake, parseTarget } from '../target.ts';
import { plural } from '../text.ts';

const selection: Readonly<Record<string, Flag>> = {
  only: { value: 'NS[:ID[:PATH]]', repeats: true, text: 'only this collection, document, field or schema item' },
  take: {
    value: 'NS:ID[:PATH]=BRANCH|@VALUE',
    repeats: true,
    text: 'decide a change: take that branch’s side, or a value of your own',
  },
  strict: { text: 'every document edited on both sides must be decided' },
};

const selectionNotes = [
  'NS is database.collection. ID is the _id as Extended JSON (\'"KB-104"\', 42, \'{"$oid": "…"}\'); text that is none is a string.',
  'PATH is a JSON pointer, as in --only \'shop.products:"KB-104":/price\'.',
  '=@VALUE is an edited result in Extended JSON: --take \'shop.products:"KB-104":/price=@{"$numberInt":"5"}\'; without a PATH it is the whole document.',
  'schema:NS[:TYPE[:NAME]] names schema items, as `diff` shows them: --only schema:shop.products:index:sku_1,',
  '--take schema:shop.products:validator=main. TYPE is collection, options, validator, view, index or rename.',
];

export const plan: Command = {
  name: 'plan',
  operands: ['BRANCH'],
  flags: selection,
  summary: 'Plan what of a sandbox goes into its parent, and check it',
  notes: selectionNotes,
  async run(call) {
    const input = selectionInput(call);
    const engine = await call.engine();
    const answer = await engine.call('plan.create', input, { signal: call.signal });
    call.print.result(
      () => planJson(answer),
      () => planText(answer),
    );
    return 0;
  },
};

function planText({ plan: id, items, conflicts, checks, parent }: Output<'plan.create'>): string {
  return [
    `Plan ${id}: ${plural(items, 'change')} into ${parent}, ${plural(conflicts, 'undecided conflict')} left out`,
    ...checks.map(({ name, ok, detail }) => `${ok ? '✓' : '✗'} ${name}: ${detail}`),
    `\`forkyard apply ${id}\` carries it out.`,
  ].join('\n');
}

export const apply: Command = {
  name: 'apply',
  operands: ['PLAN'],
  flags: {},
  summary: 'Carry out a plan, exactly or not at all',
  async run(call) {
    const [id = ''] = call.operands;
    const engine = await call.engine();
    return printApplied(call, await engine.call('plan.apply', { plan: id }));
  },
};

export const adopt: Command = {
  name: 'adopt',
  operands: ['BRANCH'],
  flags: selection,
  summary: 'Plan and apply in one; changes nothing while something must be decided',
  notes: selectionNotes,
  async run(call) {
    const input = selectionInput(call);
    const engine = await call.engine();
    return printApplied(call, await engine.call('plan.adopt', input));
  },
};

function selectionInput(call: Call): Input<'plan.adopt'> {
  const [branch = ''] = call.operands;
  const [only, take] = [call.texts('only').map(parseTarget), call.texts('take').map(parseTake)];
  return {
    branch,
    ...(only.length === 0 ? {} : { only }),
    ...(take.length === 0 ? {} : { take }),
    ...(call.on('strict') ? { strict: true } : {}),
  };
}

/** Prints what an apply, an adoption or an undo did. */
export function printApplied({ print }: Call, { applied, entry, leftOut = [] }: Output<'plan.apply'>): number {
  const outcome =
    entry === undefined
      ? 'Nothing to do: no change is left to apply.'
      : `${plural(applied, 'change')} applied as ${entry}; \`forkyard undo ${entry}\` takes it back.`;
  print.result(
    () => ({ applied, entry, leftOut: leftOut.length === 0 ? undefined : leftOut }),
    () => [outcome, ...leftOut.map((sentence) => `! ${sentence}`)].join('\n'),
  );
  return 0;
}
