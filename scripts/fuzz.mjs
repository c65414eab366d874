// `npm run fuzz`: builds, then runs random histories on real servers, in this process: an interrupt goes to it alone.
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { stdio: ['ignore', 2, 2] });
if (status !== 0) process.exit(status ?? 1);
const outfile = join(root, 'node_modules', '.cache', 'forkyard', 'fuzz.mjs');
await build({
  entryPoints: [join(root, 'test', 'harness', 'fuzz', 'long-run.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  sourcemap: 'inline',
});
try {
  const { fuzzFor } = await import(pathToFileURL(outfile).href);
  process.exitCode = await fuzzFor(process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
