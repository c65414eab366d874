import { randomUUID } from 'node:crypto';
import type { Output } from '../../../shared/api.ts';
import type { Command } from '../command.ts';
import { verificationJson } from '../shapes.ts';
import { plural, valueText } from '../text.ts';

export const verify: Command = {
  name: 'verify',
  operands: ['BRANCH'],
  flags: { limit: { value: 'N', text: 'name so many documents that differ (100)' } },
  summary: 'Compare a branch exactly with its parent and with what was recorded of both',
  notes: [
    'Every document is read, as bytes. It ends with 0 where what is recorded is the whole truth, else with 1 and the documents that a history did not know; by then it does, so the next diff shows them.',
  ],
  async run(call) {
    const [branch = ''] = call.operands;
    const limit = call.count('limit', 0, 10_000);
    const job = randomUUID();
    const engine = await call.engine();
    await engine.subscribe((event) => {
      if (event.type === 'progress' && event.job === job) call.print.progress(event.text);
    });
    const input = { branch, job, ...(limit === undefined ? {} : { limit }) };
    const answer = await engine.call('branches.verify', input, { signal: call.signal });
    call.print.result(
      () => verificationJson(answer),
      () => verificationText(answer),
    );
    return answer.exact && answer.parentExact !== false ? 0 : 1;
  },
};

function verificationText(answer: Output<'branches.verify'>): string {
  const { branch, parent, exact, parentExact, differences, unverified, collections, documents } = answer;
  const { count, first } = differences;
  const unknown = count > first.length ? [`  and ${count - first.length} more`] : [];
  return [
    exact
      ? `${branch}: what is recorded is the whole truth.`
      : `${branch}: what is recorded ${unverified.length === 0 ? 'was not' : 'may not be'} the whole truth.`,
    ...(parent === undefined
      ? []
      : [
          parentExact === true
            ? `${parent} is what it was at the fork and its own recorded changes.`
            : `${parent} was changed without a record.`,
        ]),
    ...(count === 0 ? [] : [`${plural(count, 'document')} differed and ${count === 1 ? 'is' : 'are'} recorded now:`]),
    ...first.map(({ branch: side, ns, id, kind }) => `  ${kind} in ${side}: ${ns} ${valueText(id)}`),
    ...unknown,
    ...unverified.map(({ ns, reason }) => `! Not verified${ns === undefined ? '' : `, ${ns}`}: ${reason}`),
    `${plural(documents, 'document')} in ${plural(collections, 'collection')}, ${answer.seconds.toFixed(1)} s, ${answer.mbPerSecond} MB/s`,
  ].join('\n');
}
