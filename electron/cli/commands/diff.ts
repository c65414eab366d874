import type { Diff, DocumentChange, FieldChange, Input, SchemaChange } from '../../../shared/api.ts';
import type { Command } from '../command.ts';
import { diffJson } from '../shapes.ts';
import { parseTarget } from '../target.ts';
import { moveText, pathText, plural, table, valueText } from '../text.ts';

export const diff: Command = {
  name: 'diff',
  operands: ['BRANCH'],
  flags: {
    summary: { text: 'counts only' },
    only: { value: 'NS', repeats: true, text: 'only this collection (database.collection)' },
    strict: { text: 'count every document edited on both sides as a conflict' },
    against: { value: 'BRANCH', text: 'compare with another branch than its parent' },
    limit: { value: 'N', text: 'documents on a page (1000)' },
    after: { value: 'NEXT', text: 'the page behind this one: `next` of the answer before' },
  },
  summary: 'Show the net effect of a sandbox, and what conflicts with its parent',
  async run(call) {
    const [branch = ''] = call.operands;
    const only = call.texts('only').map(parseTarget);
    const [against, after] = [call.text('against'), call.text('after')];
    const limit = call.count('limit', 1, 10_000);
    const input: Input<'diff.get'> = {
      branch,
      ...(only.length === 0 ? {} : { only }),
      ...(call.on('summary') ? { summary: true } : {}),
      ...(call.on('strict') ? { strict: true } : {}),
      ...(against === undefined ? {} : { against }),
      ...(limit === undefined ? {} : { limit }),
      ...(after === undefined ? {} : { after }),
    };
    const engine = await call.engine();
    const answer = await engine.call('diff.get', input, { signal: call.signal });
    call.print.result(
      () => diffJson(answer),
      () => diffText(answer, call.on('summary')),
    );
    return 0;
  },
};

function diffText(answer: Diff, summaryOnly: boolean): string {
  return [
    headline(answer),
    ...warnings(answer),
    ...(answer.summary.length === 0 ? [] : ['', summaryTable(answer)]),
    ...(answer.schema.length === 0 ? [] : ['', ...answer.schema.map((item) => schemaText(item, answer))]),
    ...(summaryOnly ? [] : answer.documents.flatMap((document) => ['', ...documentLines(document, answer)])),
    ...(answer.next === undefined ? [] : ['', `More documents: --after ${answer.next}`]),
  ].join('\n');
}

function headline({ branch, parent, complete, summary, schema }: Diff): string {
  const counted = (rows: Diff['summary']) =>
    rows.reduce((sum, { added, modified, removed }) => sum + added + modified + removed, 0);
  const documents = counted(summary.filter(({ buckets }) => !buckets));
  const measurements = counted(summary.filter(({ buckets }) => buckets));
  const conflicts =
    summary.reduce((sum, each) => sum + each.conflicts, 0) + schema.filter((each) => each.conflict).length;
  if (documents + measurements + schema.length === 0) {
    return complete
      ? `${branch} does not differ from ${parent}.`
      : `No difference of ${branch} and ${parent} is known so far.`;
  }
  const found = [
    ...(measurements === 0 || documents > 0 ? [plural(documents, 'document')] : []),
    ...(measurements > 0 ? [plural(measurements, 'measurement')] : []),
  ];
  const parts = [
    `${found.join(' and ')} in ${plural(summary.length, 'collection')}`,
    ...(schema.length === 0 ? [] : [plural(schema.length, 'schema change')]),
    plural(conflicts, 'conflict'),
  ];
  return `${branch} against ${parent}: ${parts.join(', ')}`;
}

function warnings({ complete, gaps }: Diff): string[] {
  return [
    ...(complete ? [] : ['! This is not complete: there may be more changes than are shown.']),
    ...gaps
      .filter((gap) => !gap.settled)
      .map((gap) => `! History gap${gap.ns === undefined ? '' : ` in ${gap.ns}`}: ${gap.reason}`),
  ];
}

function summaryTable({ summary }: Diff): string {
  return table(
    ['COLLECTION', '+', '~', '−', 'CONFLICTS'],
    summary.map(({ ns, added, modified, removed, conflicts }) => [ns, added, modified, removed, conflicts]),
  );
}

const signs = { added: '+', modified: '~', removed: '−' } as const;

function schemaText(change: SchemaChange, { parent }: Diff): string {
  const { type, kind, ns, name, documents, conflict, base } = change;
  const from = type === 'rename' && base !== undefined ? [valueText(base), 'to'] : [];
  const what = [type, ...from, ns, ...(name === undefined ? [] : [name])].join(' ');
  const holds = documents === undefined ? '' : ` (${plural(documents, 'document')})`;
  return `${signs[kind]} ${what}${holds}${conflict ? `  conflict with ${parent}` : ''}`;
}

function documentLines({ ns, id, kind, conflict, fields, measurements }: DocumentChange, answer: Diff): string[] {
  const holds = measurements
    ? `  ${plural(measurements.added + measurements.modified + measurements.removed, 'measurement')}`
    : '';
  const title = `${signs[kind]} ${ns} ${valueText(id)}${holds}${conflict ? '  conflict' : ''}`;
  return [title, ...fields.map((field) => `    ${fieldText(field, answer)}`)];
}

function fieldText(field: FieldChange, { branch, parent }: Diff): string {
  const name = field.path.length === 0 ? '' : `${pathText(field.path)}  `;
  if (field.order === true) return `${name}fields in another order`;
  const isNew = name !== '' && field.base === undefined;
  const move = `${name}${isNew ? '+ ' : ''}${moveText(field.base, field.branch)}`;
  if (field.class !== 'divergent') return move;
  const side = field.parent === undefined ? 'gone' : valueText(field.parent);
  return `${move}  in ${branch}; ${side} in ${parent}`;
}
