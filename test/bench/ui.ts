/** The app as it is seen: how soon it is there, and whether it stays smooth. In Chromium, on the loopback web. */
import { documentsIn, load } from './data.ts';
import { BrowserWatch } from './browser.ts';
import { milliseconds, type BenchRun, type Scene } from './run.ts';
import { BenchYard, dataFolderFor } from './yard.ts';

const feedDocuments = 20_000;
const reviewDocuments = 100_000;
const feedSeconds = 20;
const ticksASecond = 50;
const judgedRate = 2_000;
const printedRate = 5_000;
/** A document that nothing else writes to. */
const marker = 77_777;
const typed = 'Customer';

export function uiScene(run: BenchRun): Scene {
  const paint = run.figure({ name: 'ui.first_paint_ms', unit: 'ms', target: 1_500 });
  const gap = run.figure({ name: 'ui.feed_paint_gap_ms', unit: 'ms', target: 250, judge: 'worst' });
  const memory = run.figure({ name: 'ui.feed_memory_mb', unit: 'MB', target: 100, judge: 'worst' });
  const key = run.figure({ name: 'ui.filter_key_ms', unit: 'ms', target: 50, judge: 'worst' });
  const review = run.figure({ name: 'ui.review_first_rows_ms', unit: 'ms', target: 500 });
  return {
    title: 'app',
    figures: [paint, gap, memory, key, review],
    async run() {
      const yard = await BenchYard.open(run, dataFolderFor(run, 'ui'));
      const { url } = await yard.client.call('engine.web', {});
      run.say(`main of ${reviewDocuments} documents`);
      await load(yard, 0, reviewDocuments);
      await yard.settle('main');
      if (paint.wanted) {
        await run.repeat('first useful paint', async () => {
          const watch = await BrowserWatch.open(run, url);
          await watch.close();
          paint.add(watch.firstPaintMs);
          return milliseconds(watch.firstPaintMs);
        });
      }
      if (gap.wanted || memory.wanted || key.wanted) {
        await run.repeat(`feed at ${judgedRate} writes a second`, async () => {
          const seen = await follow(yard, url, judgedRate);
          gap.add(seen.gapMs);
          memory.add(seen.memoryMB);
          key.add(Math.max(...seen.keysMs), { median_key: [...seen.keysMs].sort((a, b) => a - b)[4] ?? Number.NaN });
          return told(seen);
        });
        run.say(`not judged, at ${printedRate} writes a second: ${told(await follow(yard, url, printedRate))}`);
      }
      if (review.wanted) {
        const { name } = await yard.fork();
        await documentsIn(await yard.mongo(name)).updateMany({}, { $inc: { n: 1 } });
        await yard.settle(name);
        await run.repeat(`review of ${reviewDocuments} documents`, async () => {
          const watch = await BrowserWatch.open(run, url);
          const ms = await watch.openReview(name, reviewDocuments);
          await watch.close();
          review.add(ms);
          return `first rows after ${milliseconds(ms)}`;
        });
        await yard.discard(name);
      }
      await yard.close();
    },
  };
}

interface Seen {
  readonly gapMs: number;
  readonly memoryMB: number;
  readonly keysMs: readonly number[];
  readonly cpu: { readonly renderer: number; readonly engine: number };
  readonly written: number;
}

function told({ gapMs, memoryMB, keysMs, cpu, written }: Seen): string {
  const seconds = (value: number) => `${value.toFixed(1)} s`;
  return (
    `${written} writes, worst gap between two frames ${milliseconds(gapMs)}, memory +${memoryMB.toFixed(0)} MB, ` +
    `worst key ${milliseconds(Math.max(...keysMs))}, CPU ${seconds(cpu.renderer)} in the window and ${seconds(cpu.engine)} in the engine`
  );
}

/** Watches the feed while a sandbox is written to, then types into the filter of a full feed. @throws where a write is lost */
async function follow(yard: BenchYard, url: string, rate: number): Promise<Seen> {
  const { name } = await yard.fork();
  // A feed that has nothing to show has no filter either.
  await documentsIn(await yard.mongo(name)).updateOne({ _id: 0 }, { $inc: { n: 1 } });
  const begun = await yard.settle(name);
  const watch = await BrowserWatch.open(yard.run, url);
  await watch.openFeed(name);
  const cpuBefore = await watch.cpuSeconds(yard.pid);
  await watch.startFrames();
  const written = await writeAt(yard, name, rate);
  const { gapMs, memoryMB } = await watch.stopFrames();
  const cpuAfter = await watch.cpuSeconds(yard.pid);
  const last = await yard.settle(name);
  if (last !== begun + written) throw new Error(`${last - begun} changes are in the history, not ${written}`);
  // One more, of another kind, so that no burst takes it in: when its row is there, so is all before it.
  await documentsIn(await yard.mongo(name)).deleteOne({ _id: marker });
  await watch.shows(marker);
  await watch.counted(last + 1);
  const keysMs = await watch.typeIntoFilter(typed);
  await watch.close();
  await yard.discard(name);
  const cpu = { renderer: cpuAfter.renderer - cpuBefore.renderer, engine: cpuAfter.engine - cpuBefore.engine };
  return { gapMs, memoryMB, keysMs, cpu, written };
}

/** Single updates, a bunch every 20 ms, for twenty seconds or as long as it takes the server. Gives how many. */
async function writeAt(yard: BenchYard, branch: string, rate: number): Promise<number> {
  const collection = documentsIn(await yard.mongo(branch));
  const ticks = feedSeconds * ticksASecond;
  const bunch = rate / ticksASecond;
  const from = performance.now();
  for (let tick = 0; tick < ticks; tick += 1) {
    const updates = Array.from({ length: bunch }, (_, index) => ({
      updateOne: { filter: { _id: (tick * bunch + index) % feedDocuments }, update: { $inc: { n: 1 } } },
    }));
    await collection.bulkWrite(updates, { ordered: false, writeConcern: { w: 1 } });
    const wait = from + ((tick + 1) * 1_000) / ticksASecond - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  }
  return ticks * bunch;
}
