import { randomUUID } from 'node:crypto';
import type { Input, Output } from '../../../shared/api.ts';
import type { Call, Command } from '../command.ts';
import { importJson } from '../shapes.ts';
import { resolveSource } from '../source.ts';
import { plural, table, valueText } from '../text.ts';

export const importCommand: Command = {
  name: 'import',
  operands: ['SOURCE'],
  flags: {
    into: { value: 'BRANCH', text: 'the branch to fill (main)' },
    db: { value: 'D', text: 'database: of a deployment only this one, of a file where it goes' },
    collection: { value: 'C', text: 'collection: of a deployment only this one, of a file where it goes' },
  },
  summary: 'Copy data in: an Extended JSON file (also gzipped), -, env:VAR, a mongodb:// URI, or sample:shop',
  async run(call) {
    const [db, collection] = [call.text('db'), call.text('collection')];
    const source = await resolveSource(call.operands[0] ?? '', { ...call, db, collection });
    try {
      const input: Input<'transfer.import'> = {
        source: source.source,
        into: call.text('into') ?? 'main',
        ...(db === undefined ? {} : { db }),
        ...(collection === undefined ? {} : { collection }),
      };
      const answer = await runImport(call, input);
      call.print.result(
        () => importJson(answer),
        () => importText(answer),
      );
      return answer.problems.length === 0 ? 0 : 1;
    } finally {
      await source.dispose();
    }
  },
};

async function runImport(call: Call, input: Input<'transfer.import'>): Promise<Output<'transfer.import'>> {
  const job = randomUUID();
  const engine = await call.engine();
  await engine.subscribe((event) => {
    if (event.type !== 'progress' || event.job !== job) return;
    const percent = event.done !== undefined && event.total ? ` ${Math.floor((100 * event.done) / event.total)} %` : '';
    call.print.progress(`${event.text}${percent}`);
  });
  return engine.call('transfer.import', { ...input, job }, { signal: call.signal });
}

function importText({ collections, problems }: Output<'transfer.import'>): string {
  const documents = collections.reduce((sum, each) => sum + each.documents, 0);
  const shown = problems.slice(0, 20).map(({ ns, line, id, message }) => {
    const where = [
      ...(ns === undefined ? [] : [ns]),
      ...(line === undefined ? [] : [`line ${line}`]),
      ...(id === undefined ? [] : [valueText(id)]),
    ];
    return `! ${[where.join(' '), message].filter((part) => part !== '').join(': ')}`;
  });
  return [
    `${plural(documents, 'document')} in ${plural(collections.length, 'collection')}`,
    ...(collections.length === 0
      ? []
      : [
          table(
            ['COLLECTION', 'DOCUMENTS'],
            collections.map(({ ns, documents: count }) => [ns, count]),
          ),
        ]),
    ...(problems.length === 0 ? [] : [plural(problems.length, 'problem'), ...shown]),
    ...(problems.length > shown.length ? [`! and ${problems.length - shown.length} more; --json lists all`] : []),
  ].join('\n');
}
