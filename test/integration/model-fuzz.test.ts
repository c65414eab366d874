import { afterAll, beforeAll, expect, it } from 'vitest';
import { fuzz } from '../harness/fuzz/run.ts';
import { TestYard } from '../harness/in-process.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

/** FORKYARD_FUZZ_SEED runs one history again. */
const first = Number(process.env['FORKYARD_FUZZ_SEED'] ?? Date.now() % 1_000_000);
const count = process.env['FORKYARD_FUZZ_SEED'] === undefined ? 8 : 1;
const seeds = Array.from({ length: count }, (_, index) => first + index);

it.each(seeds)(
  'history %i: what is recorded is what happened, adopting carries it over, undo takes it back',
  async (seed) => {
    const problems = await fuzz(yard, { seed, operations: 100 });
    expect(problems, `run again with FORKYARD_FUZZ_SEED=${seed}`).toEqual([]);
  },
  120_000,
);
