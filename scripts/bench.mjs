// `npm run bench`: builds, then measures the engine with test/bench, in this process: an interrupt goes to it alone.
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const measuresOnly = ['--no-build', '--help', '--list'];
const argv = process.argv.slice(2);

if (!argv.some((word) => measuresOnly.includes(word))) {
  const stdio = ['ignore', 2, 2];
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { stdio });
  if (status !== 0) process.exit(status ?? 1);
}
const outfile = join(root, 'node_modules', '.cache', 'forkyard', 'bench.mjs');
await build({
  entryPoints: [join(root, 'test', 'bench', 'bench.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  sourcemap: 'inline',
});
try {
  const { bench } = await import(pathToFileURL(outfile).href);
  const words = argv.filter((word) => word !== '--no-build');
  process.exitCode = await bench(root, words);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
