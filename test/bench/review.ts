/** 10,000 changes: compared, planned, applied. */
import { documentOf, documentsIn, load } from './data.ts';
import { milliseconds, type BenchRun, type Scene } from './run.ts';
import { BenchYard, dataFolderFor } from './yard.ts';

const documents = 20_000;
const modified = 8_000;
/** As many are added as removed, so that main stays as large as it is. */
const replaced = 1_000;
const changes = modified + 2 * replaced;

export function reviewScene(run: BenchRun): Scene {
  const diff = run.figure({ name: `diff_ms.${changes}_changes`, unit: 'ms', target: 1_000 });
  const plan = run.figure({ name: `plan_ms.${changes}_changes`, unit: 'ms', target: 2_000 });
  const apply = run.figure({ name: `apply_ms.${changes}_changes`, unit: 'ms', target: 3_000 });
  return {
    title: 'review',
    figures: [diff, plan, apply],
    async run() {
      const yard = await BenchYard.open(run, dataFolderFor(run, 'review'));
      const { client } = yard;
      run.say(`main of ${documents} documents`);
      await load(yard, 0, documents);
      await run.repeat(`${changes} changes`, async (index) => {
        const { name: branch } = await yard.fork();
        await change(yard, branch, index);
        await yard.settle(branch);

        const compared = performance.now();
        const found = await yard.measured(`diff-${index}`, () => client.call('diff.get', { branch }));
        const diffMs = performance.now() - compared;
        const counted = found.summary.reduce((sum, row) => sum + row.added + row.modified + row.removed, 0);
        expect(counted, changes, 'changes in the summary');
        diff.add(diffMs);

        const planned = performance.now();
        const made = await yard.measured(`plan-${index}`, () => client.call('plan.create', { branch }));
        const planMs = performance.now() - planned;
        expect(made.items, changes, 'items in the plan');
        plan.add(planMs);

        const asked = performance.now();
        const { applied } = await yard.measured(`apply-${index}`, () => client.call('plan.apply', { plan: made.plan }));
        const applyMs = performance.now() - asked;
        expect(applied, changes, 'changes applied');
        apply.add(applyMs);

        await yard.settle('main');
        await yard.discard(branch);
        return `diff ${milliseconds(diffMs)}, plan ${milliseconds(planMs)}, apply ${milliseconds(applyMs)}`;
      });
      await yard.close();
    },
  };
}

/** Run by run, the documents that the run before added are the ones removed. */
async function change(yard: BenchYard, branch: string, index: number): Promise<void> {
  const collection = documentsIn(await yard.mongo(branch));
  const added = documents + index * replaced;
  await collection.updateMany({ _id: { $lt: modified } }, { $inc: { n: 1 }, $set: { name: `Changed ${index}` } });
  await collection.deleteMany({ _id: { $gte: added - replaced, $lt: added } });
  await collection.insertMany(Array.from({ length: replaced }, (_, offset) => documentOf(added + offset)));
}

function expect(found: number, wanted: number, what: string): void {
  if (found !== wanted) throw new Error(`${found} ${what}, not ${wanted}`);
}
