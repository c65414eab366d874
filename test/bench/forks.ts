/** Forks of a main that grows, and what is measured on its largest size. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { documentsIn, load } from './data.ts';
import type { Figure } from './figure.ts';
import { diffOfThree, diffFigures } from './diff-of-three.ts';
import { xfsFolder } from './reflink.ts';
import { milliseconds, type BenchRun, type Scene } from './run.ts';
import { stallOf } from './stall.ts';
import { BenchYard, dataFolderFor } from './yard.ts';

/** Milliseconds from the request to capture live, by number of documents, where files are copied. */
const readyTargets: Readonly<Record<number, number>> = { 3: 450, 10_000: 500, 100_000: 1_200, 500_000: 3_000 };
const togetherSize = 10_000;
const together = 4;

/** The target of a size, or of the next larger one that has one. */
function readyTarget(size: number): number {
  const sizes = Object.keys(readyTargets).map(Number);
  return readyTargets[sizes.find((other) => other >= size) ?? Math.max(...sizes)]!;
}

export function forkScene(run: BenchRun): Scene {
  const { sizes } = run.asked;
  const { largest } = run;
  const ready = new Map(
    sizes.map((size) => [
      size,
      run.figure({ name: `sandbox_capture_ready_ms.${size}`, unit: 'ms', target: readyTarget(size) }),
    ]),
  );
  const four = run.figure({ name: `four_forks_ms.${togetherSize}`, unit: 'ms', target: 2_000 });
  const stall = run.figure({ name: `writer_stall_ms.${largest}`, unit: 'ms', target: 2_000, judge: 'worst' });
  const discard = run.figure({ name: `discard_ms.${largest}`, unit: 'ms', target: 500 });
  const diff = diffFigures(run);
  const shared = run.figure({ name: `sandbox_capture_ready_ms.${largest}.reflink`, unit: 'ms', target: 700 });
  const sharedStall = run.figure({
    name: `writer_stall_ms.${largest}.reflink`,
    unit: 'ms',
    target: 100,
    judge: 'worst',
  });
  const onLargest = [stall, discard, diff.time, diff.memory, shared, sharedStall];
  const withFour = sizes.includes(togetherSize) ? [four] : [];

  return {
    title: 'forks',
    figures: [...ready.values(), ...withFour, ...onLargest],
    async run() {
      const data = dataFolderFor(run, 'copied');
      let yard = await BenchYard.open(run, data);
      let documents = 0;
      for (const size of sizes) {
        const wanted = [ready.get(size)!];
        if (size === togetherSize) wanted.push(four);
        if (size === largest) wanted.push(...onLargest);
        if (!wanted.some((figure) => figure.wanted)) continue;
        run.say(`main of ${size} documents`);
        await load(yard, documents, size);
        documents = size;
        await yard.quietDisk();
        const last = size === largest;
        if (last && diff.memory.wanted) {
          // Room that loading left in the engine's heap would hide what a diff takes.
          await yard.close();
          yard = await BenchYard.open(run, data);
        }
        if (wanted[0]!.wanted || (last && [discard, diff.time, diff.memory].some((figure) => figure.wanted))) {
          await forksOneByOne(yard, size, wanted[0]!, last ? { discard, diff } : {});
        }
        if (size === togetherSize && four.wanted) await forksTogether(yard, four);
        if (last && stall.wanted) await stalls(yard, stall, 'copied');
      }
      await yard.close();
      if (shared.wanted || sharedStall.wanted) await onReflink(run, data, shared, sharedStall);
    },
  };
}

/** On the largest size each sandbox also gets three changes, a diff, and is discarded as a user would. */
async function forksOneByOne(
  yard: BenchYard,
  size: number,
  ready: Figure,
  more: { readonly discard?: Figure; readonly diff?: ReturnType<typeof diffFigures> },
): Promise<void> {
  await yard.run.repeat(`fork of ${size}`, async (index) => {
    const { name, ms, branch, timings } = await yard.measured(`fork-${size}-${index}`, () => yard.fork());
    if (branch.disk === 'copied') ready.add(ms, timings);
    else ready.skip('the file system shares blocks; name a folder that does not with --dir');
    const told = [`ready in ${milliseconds(ms)}`];
    if (more.diff) told.push(await diffOfThree(yard, name, size, more.diff));
    const ended = await yard.discard(name, more.discard === undefined);
    more.discard?.add(ended);
    told.push(`discarded in ${milliseconds(ended)}`);
    await yard.quietDisk();
    return told.join(', ');
  });
}

async function forksTogether(yard: BenchYard, figure: Figure): Promise<void> {
  await yard.run.repeat(`${together} forks at once`, async (index) => {
    const asked = performance.now();
    const forks = await yard.measured(`forks-together-${index}`, () =>
      Promise.all(Array.from({ length: together }, () => yard.fork())),
    );
    const ms = performance.now() - asked;
    figure.add(ms, { slowest_copy_ms: Math.max(...forks.map(({ timings }) => timings.copy_ms)) });
    for (const { name } of forks) await yard.discard(name);
    await yard.quietDisk();
    return milliseconds(ms);
  });
}

async function stalls(yard: BenchYard, figure: Figure, disk: 'copied' | 'shared'): Promise<void> {
  await yard.run.repeat(`writer during a fork (${disk})`, async () => {
    const writer = (await yard.mongo('main')).db('bench').collection<{ n: number }>('writer');
    const { longestMs, writes, result } = await stallOf(writer, () => yard.fork());
    if (result.branch.disk !== disk) throw new Error(`the fork's disk is ${result.branch.disk}, not ${disk}`);
    figure.add(longestMs, { fork_ms: result.ms, copy_ms: result.timings.copy_ms });
    await yard.discard(result.name);
    await yard.quietDisk();
    return `longest wait ${milliseconds(longestMs)} of ${writes} writes`;
  });
}

/** The same data folder, moved to a file system that shares blocks: loading it once is enough. */
async function onReflink(run: BenchRun, from: string, ready: Figure, stall: Figure): Promise<void> {
  const folder = xfsFolder(run);
  if ('reason' in folder) {
    for (const figure of [ready, stall]) figure.skip(folder.reason);
    return;
  }
  run.say('the same data on XFS with reflink');
  for (const part of await readdir(from)) {
    // Not what was discarded, and not what tells of the engine that ran there.
    if (part === 'trash' || (part.startsWith('engine.') && part !== 'engine.secret')) continue;
    await run.cleanup.command('cp', '-a', join(from, part), folder.path);
  }
  const yard = await BenchYard.open(run, folder.path);
  const found = await documentsIn(await yard.mongo('main')).estimatedDocumentCount();
  if (found !== run.largest) throw new Error(`${found} documents came over, not ${run.largest}`);
  await yard.quietDisk();
  if (ready.wanted) {
    await run.repeat('fork with shared files', async (index) => {
      const { name, ms, branch, timings } = await yard.measured(`fork-reflink-${index}`, () => yard.fork());
      if (branch.disk !== 'shared') throw new Error('XFS did not share the files');
      ready.add(ms, timings);
      await yard.discard(name);
      await yard.quietDisk();
      return milliseconds(ms);
    });
  }
  if (stall.wanted) await stalls(yard, stall, 'shared');
  await yard.close();
}
