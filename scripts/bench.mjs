// `npm run bench`: builds, then measures the engine with test/bench, in this process: an interrupt goes to it alone.
import { buildFirst, root, runBundled } from './bundled.mjs';

const measuresOnly = ['--no-build', '--help', '--list'];
const argv = process.argv.slice(2);

if (!argv.some((word) => measuresOnly.includes(word))) buildFirst();
await runBundled('bench', 'test/bench/bench.ts', ({ bench }) =>
  bench(
    root,
    argv.filter((word) => word !== '--no-build'),
  ),
);
