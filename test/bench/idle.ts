/** What the engine itself takes while nothing happens. */
import { load } from './data.ts';
import { childrenOf, residentMB } from './memory.ts';
import type { BenchRun, Scene } from './run.ts';
import { BenchYard, dataFolderFor } from './yard.ts';

const documents = 10_000;
const sandboxes = 3;
/** Memory stands still where so many samples in a row lie within a megabyte. */
const stillSamples = 12;
const sampleMs = 250;
const mostSamples = 120;

export function idleScene(run: BenchRun): Scene {
  const figure = run.figure({ name: `engine_idle_mb.${sandboxes}_sandboxes`, unit: 'MB', target: 200 });
  return {
    title: 'idle memory',
    figures: [figure],
    async run() {
      const data = dataFolderFor(run, 'idle');
      const first = await BenchYard.open(run, data);
      run.say(`main of ${documents} documents`);
      await load(first, 0, documents);
      await first.close();
      // An engine of its own for each run: what memory an engine once had says little of what it needs.
      await run.repeat(`engine with ${sandboxes} sandboxes`, async () => {
        const yard = await BenchYard.open(run, data);
        const names: string[] = [];
        while (names.length < sandboxes) names.push((await yard.fork()).name);
        const guards = childrenOf(yard.pid, 'lock-guard.js');
        if (guards.length !== 1) throw new Error(`the engine has ${guards.length} lock guards`);
        const engine = await stillMB(yard.pid);
        const guard = residentMB(guards[0]!);
        figure.add(engine + guard, { engine_mb: engine, guard_mb: guard });
        for (const name of names) await yard.discard(name);
        await yard.close();
        return `${engine.toFixed(0)} MB and ${guard.toFixed(0)} MB of its lock guard`;
      });
    },
  };
}

/** The memory of a process once it stands still, or after half a minute. */
async function stillMB(pid: number): Promise<number> {
  const samples: number[] = [];
  for (;;) {
    samples.push(residentMB(pid));
    const recent = samples.slice(-stillSamples);
    const still = recent.length === stillSamples && Math.max(...recent) - Math.min(...recent) < 1;
    if (still || samples.length >= mostSamples) return samples.at(-1)!;
    await new Promise((resolve) => setTimeout(resolve, sampleMs));
  }
}
