/** How long a write takes to the feed, and how long many writes take to the history. */
import type { WriteConcernSettings } from 'mongodb';
import { documentsIn, load, randomFrom } from './data.ts';
import { median, type Figure } from './figure.ts';
import { milliseconds, type BenchRun, type Scene } from './run.ts';
import { BenchYard, dataFolderFor } from './yard.ts';

const documents = 20_000;
const writesARun = 100;
const writers = 16;
/** Between two writes: never in step with the server's journal, which it writes every 5 ms. */
const pauseMs = { least: 5, spread: 20 };
/** As the app follows a branch. */
const poll = { limit: 500, waitMs: 25_000 };

export function feedScene(run: BenchRun): Scene {
  const seen = (['majority', 1] as const).map((w) => ({
    w,
    figure: run.figure({ name: `write_to_feed_ms.${w === 1 ? 'w1' : w}`, unit: 'ms', target: 10 }),
  }));
  const many = run.figure({ name: 'updates_captured_ms.update_many', unit: 'ms', target: 2_000 });
  const single = run.figure({ name: 'updates_captured_ms.single', unit: 'ms', target: 2_000 });
  return {
    title: 'capture',
    figures: [...seen.map(({ figure }) => figure), many, single],
    async run() {
      const yard = await BenchYard.open(run, dataFolderFor(run, 'capture'));
      run.say(`main of ${documents} documents`);
      await load(yard, 0, documents);
      for (const { w, figure } of seen) if (figure.wanted) await writesToFeed(yard, w, figure);
      if (many.wanted) await updates(yard, many, 'updateMany', updateAll);
      if (single.wanted) await updates(yard, single, 'single updates', updateEach);
      await yard.close();
    },
  };
}

/** One run's value is the p50 of its writes, each from its beginning to its change in the follower's hands. */
async function writesToFeed(yard: BenchYard, w: WriteConcernSettings['w'] & {}, figure: Figure): Promise<void> {
  const { client } = yard;
  const { name: branch } = await yard.fork();
  const collection = documentsIn(await yard.mongo(branch));
  // The app hears events too; telling them is part of the engine's work.
  await client.subscribe(() => undefined);
  const random = randomFrom(7);
  let seq = await yard.settle(branch);
  await yard.run.repeat(`write to feed, w: ${w}`, async (index) => {
    const times: number[] = [];
    await yard.measured(`feed-${w}-${index}`, async () => {
      for (let write = 0; write < writesARun; write += 1) {
        const next = client
          .call('changes.page', { branch, after: seq, ...poll })
          .then(({ changes }) => ({ changes, at: performance.now() }));
        const pause = pauseMs.least + random() * pauseMs.spread;
        await Promise.race([next, new Promise((resolve) => setTimeout(resolve, pause))]);
        const id = Math.floor(random() * documents);
        const from = performance.now();
        const written = collection.updateOne({ _id: id }, { $inc: { n: 1 } }, { writeConcern: { w } });
        const [{ changes, at }] = await Promise.all([next, written]);
        times.push(at - from);
        if (changes.length !== 1) throw new Error(`${changes.length} changes came for one write`);
        seq = changes[0]!.seq;
      }
    });
    times.sort((a, b) => a - b);
    const p50 = median(times);
    const p95 = times[Math.floor(times.length * 0.95)]!;
    figure.add(p50, { p95 });
    return `p50 ${milliseconds(p50)}, p95 ${milliseconds(p95)}`;
  });
  await yard.discard(branch);
}

type Update = (yard: BenchYard, branch: string) => Promise<void>;

const updateAll: Update = async (yard, branch) => {
  await documentsIn(await yard.mongo(branch)).updateMany({}, { $inc: { n: 1 } });
};

const updateEach: Update = async (yard, branch) => {
  const collection = documentsIn(await yard.mongo(branch));
  let next = 0;
  const writer = async () => {
    while (next < documents) {
      const id = next;
      next += 1;
      // Not held up by the journal, so that capture is given no time to keep pace.
      await collection.updateOne({ _id: id }, { $inc: { n: 1 } }, { writeConcern: { w: 1 } });
    }
  };
  await Promise.all(Array.from({ length: writers }, writer));
};

/** From the acknowledgement of the last update to the last change in the history; each run on a sandbox of its own. */
async function updates(yard: BenchYard, figure: Figure, what: string, update: Update): Promise<void> {
  await yard.run.repeat(`${documents} by ${what}`, async (index) => {
    const { name: branch } = await yard.fork();
    const begun = await yard.settle(branch);
    await yard.mongo(branch);
    const asked = performance.now();
    const { acknowledged, captured } = await yard.measured(
      `updates-${what.replaceAll(' ', '-')}-${index}`,
      async () => {
        await update(yard, branch);
        const at = performance.now();
        await yard.reached(branch, begun + documents);
        return { acknowledged: at, captured: performance.now() };
      },
    );
    const last = await yard.settle(branch);
    if (last !== begun + documents) throw new Error(`${last - begun} changes were captured, not ${documents}`);
    figure.add(captured - acknowledged, { write_ms: acknowledged - asked });
    await yard.discard(branch);
    return `written in ${milliseconds(acknowledged - asked)}, captured ${milliseconds(captured - acknowledged)} later`;
  });
}
