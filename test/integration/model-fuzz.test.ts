import { afterAll, beforeAll, expect, it } from 'vitest';
import { fuzz } from '../harness/fuzz/run.ts';
import { TestYard } from '../harness/in-process.ts';

const operations = 300;
const moments = 3;

let yard: TestYard;
let startedAt = 0;
beforeAll(async () => {
  startedAt = performance.now();
  yard = await TestYard.open();
});
afterAll(async () => {
  await yard.close();
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  console.log(`${seeds.length} histories of ${operations} operations on each branch in ${seconds} s`);
});

/** FORKYARD_FUZZ_SEED runs one history again, FORKYARD_FUZZ_HISTORIES as many as it says, from FORKYARD_FUZZ_FIRST on. */
const again = process.env['FORKYARD_FUZZ_SEED'];
const first = Number(again ?? process.env['FORKYARD_FUZZ_FIRST'] ?? Date.now() % 1_000_000);
const count = again === undefined ? Number(process.env['FORKYARD_FUZZ_HISTORIES'] ?? 8) : 1;
const seeds = Array.from({ length: count }, (_, index) => first + index);

it.each(seeds)(
  'history %i: what is recorded is what happened, adopting carries it over, undo takes it back',
  async (seed) => {
    const problems = await fuzz(yard, { seed, operations, moments });
    expect(problems, `run again with FORKYARD_FUZZ_SEED=${seed}`).toEqual([]);
  },
);
