// Builds what runs: the command line, the engine, Electron's three entries, and the renderer.
import { build } from 'esbuild';
import { rmSync } from 'node:fs';

const root = new URL('..', import.meta.url).pathname;
rmSync(`${root}dist`, { recursive: true, force: true });

/** Optional parts of the driver that Forkyard does not use, and what must be resolved where it runs. */
const external = [
  'electron',
  '@reflink/reflink',
  'mongodb-client-encryption',
  'kerberos',
  'snappy',
  '@mongodb-js/zstd',
  'socks',
  'aws4',
  '@aws-sdk/credential-providers',
  'gcp-metadata',
  'bufferutil',
  'utf-8-validate',
];
const common = { bundle: true, platform: 'node', external, sourcemap: true, logLevel: 'warning', absWorkingDir: root };

await build({
  ...common,
  entryPoints: { 'cli/forkyard': 'electron/cli/forkyard.ts', 'engine/engine': 'electron/server/engine.ts' },
  outdir: 'dist',
  format: 'esm',
  target: 'node20',
  // Bundled CommonJS dependencies still call require().
  banner: {
    js: "import { createRequire as forkyardRequire } from 'node:module'; const require = forkyardRequire(import.meta.url);",
  },
});
