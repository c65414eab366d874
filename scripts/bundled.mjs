import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Builds `dist`, with what the build says on stderr; where it fails, this process ends as it did. */
export function buildFirst() {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}

/**
 * Bundles a program in TypeScript (its path in the checkout) under a name of its own, imports it into this process and hands
 * it to `run`, which resolves to the exit code.
 */
export async function runBundled(name, entry, run) {
  const outfile = join(root, 'node_modules', '.cache', 'forkyard', `${name}.mjs`);
  await build({
    entryPoints: [join(root, entry)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    sourcemap: 'inline',
  });
  try {
    process.exitCode = await run(await import(pathToFileURL(outfile).href));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
