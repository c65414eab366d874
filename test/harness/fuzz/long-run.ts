import { performance } from 'node:perf_hooks';
import { TestYard } from '../in-process.ts';
import { fuzz } from './run.ts';

const usage = 'npm run fuzz -- [--minutes N] [--histories N] [--seed N] [--operations N] [--moments N]';

interface Options {
  minutes: number;
  histories: number;
  seed: number;
  operations: number;
  moments: number;
}

/**
 * Runs random histories one after the other and prints each one's seed, by which it is run again.
 * @returns the exit code: 1 where one of them did not hold
 */
export async function fuzzFor(words: readonly string[]): Promise<number> {
  const { minutes, histories, seed: first, operations, moments } = parse(words);
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1_000;
  const yard = await TestYard.open();
  const failed: number[] = [];
  let run = 0;
  try {
    for (; run < histories && elapsed() < minutes * 60; run += 1) {
      const seed = first + run;
      const began = elapsed();
      const problems = await fuzz(yard, { seed, operations, moments }).catch((error: unknown) => [
        `it broke off: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      ]);
      if (problems.length > 0) failed.push(seed);
      console.log(
        `history ${seed}: ${problems.length === 0 ? 'holds' : 'DOES NOT HOLD'}, ${(elapsed() - began).toFixed(1)} s`,
      );
      for (const problem of problems.slice(0, 20)) console.log(`  ${problem.slice(0, 1_000)}`);
    }
  } finally {
    await yard.close();
  }
  console.log(
    `${run} histories of ${operations} operations in ${elapsed().toFixed(0)} s, ${failed.length} did not hold`,
  );
  for (const seed of failed)
    console.log(`again: npm run fuzz -- --seed ${seed} --histories 1 --operations ${operations}`);
  return failed.length === 0 ? 0 : 1;
}

function parse(words: readonly string[]): Options {
  const options: Options = {
    minutes: 10,
    histories: Number.POSITIVE_INFINITY,
    seed: Number(process.env['FORKYARD_FUZZ_SEED'] ?? Date.now() % 1_000_000),
    operations: 300,
    moments: 20,
  };
  for (let at = 0; at < words.length; at += 2) {
    const name = words[at]!.replace(/^--/, '');
    const value = Number(words[at + 1]);
    if (!(name in options) || !(value >= 0)) throw new Error(usage);
    options[name as keyof Options] = value;
  }
  return options;
}
