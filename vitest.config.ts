import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The random histories take longest by far: begun last, they would run on alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLongest = ({ moduleId }: TestSpecification) => moduleId.includes('model-fuzz');
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

export default defineConfig({
  define: { __FORKYARD_VERSION__: JSON.stringify('test') },
  test: {
    // Each integration file runs servers of its own; two cores carry two of them.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{shared,electron,renderer}/**/*.test.{ts,tsx}'],
          environment: 'node',
          // Those that compute for a second alone take many beside servers on two cores.
          testTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          environment: 'node',
          pool: 'forks',
          testTimeout: 240_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
