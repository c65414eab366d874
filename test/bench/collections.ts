/** Forks of a main with many files: collections and indexes cost, however little they hold. */
import { documentOf } from './data.ts';
import { milliseconds, type BenchRun, type Scene } from './run.ts';
import { BenchYard, dataFolderFor } from './yard.ts';

const collections = 300;
const documentsEach = 10;
const makers = 4;

export function collectionsScene(run: BenchRun): Scene {
  const figure = run.figure({ name: `sandbox_capture_ready_ms.${collections}_collections`, unit: 'ms', target: 1_500 });
  return {
    title: 'many collections',
    figures: [figure],
    async run() {
      const yard = await BenchYard.open(run, dataFolderFor(run, 'collections'));
      run.say(`main of ${collections} collections with 3 indexes each`);
      await makeCollections(yard);
      await yard.quietDisk();
      await run.repeat('fork of many collections', async (index) => {
        const { name, ms, timings } = await yard.measured(`fork-collections-${index}`, () => yard.fork());
        figure.add(ms, timings);
        await yard.discard(name);
        await yard.quietDisk();
        return milliseconds(ms);
      });
      await yard.close();
    },
  };
}

async function makeCollections(yard: BenchYard): Promise<void> {
  const db = (await yard.mongo('main')).db('bench');
  let next = 0;
  const maker = async () => {
    while (next < collections) {
      const number = next;
      next += 1;
      const rows = Array.from({ length: documentsEach }, (_, index) => documentOf(number * documentsEach + index));
      const collection = db.collection<(typeof rows)[number]>(`c${number}`);
      await collection.createIndexes([
        { key: { name: 1 } },
        { key: { email: 1 } },
        { key: { 'address.zip': 1, at: 1 } },
      ]);
      await collection.insertMany(rows);
    }
  };
  await Promise.all(Array.from({ length: makers }, maker));
  await yard.settle('main');
}
