import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest, in this order: begun last, it would run on alone. A file's length, which decides else, does not tell. */
const longest = [
  'model-fuzz',
  'crash-branches',
  'crash-plans',
  'crash-returns',
  'fork-under-writes',
  'main-unhurt-fork',
  'server-cases',
  'main-unhurt-kill',
  'main-unhurt-stop',
  'capture-cases',
  'apply-crash',
  'peer-large',
  'killed-engine',
  'processes',
  'bad-input',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = longest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return at < 0 ? longest.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
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
          // Limits of what never comes: a busy machine takes many times what a quiet one does.
          testTimeout: 360_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
});
