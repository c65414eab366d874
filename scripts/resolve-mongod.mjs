import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The engine's own `resolveMongod`, built as one file that Node runs; made anew when a source is newer. */
export async function mongodResolver() {
  const room = path.join(root, 'electron', 'engine', 'mongod', 'binary');
  const outfile = path.join(root, 'node_modules', '.cache', 'forkyard', 'resolve-mongod.mjs');
  const sources = [...readdirSync(room).map((name) => path.join(room, name)), path.join(root, 'shared', 'errors.ts')];
  const built = existsSync(outfile) ? statSync(outfile).mtimeMs : 0;
  if (sources.some((file) => statSync(file).mtimeMs > built)) {
    const { build } = await import('esbuild');
    const entryPoints = [path.join(room, 'resolve.ts')];
    await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm', packages: 'external' });
  }
  const { resolveMongod } = await import(pathToFileURL(outfile).href);
  return resolveMongod;
}
