// Builds what runs: the command line, the engine, Electron's three entries, and the renderer. The old build stays in place
// until the new one is whole.
import { build } from 'esbuild';
import { chmodSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as buildRenderer } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const staging = join(root, `dist.${process.pid}`);

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
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const versionName = { __FORKYARD_VERSION__: JSON.stringify(version) };
const common = {
  bundle: true,
  platform: 'node',
  external,
  define: versionName,
  sourcemap: true,
  logLevel: 'warning',
  absWorkingDir: root,
};

/** Programs for Node. Each is one file: a start reads nothing else. */
const node = {
  'cli/forkyard': 'electron/cli/forkyard.ts',
  'cli/demo-script': 'electron/cli/demo-script.ts',
  'engine/engine': 'electron/server/engine.ts',
  'engine/lock-guard': 'electron/engine/mongod/lock-guard-process.ts',
};
/** Programs for Electron, which takes CommonJS in every version. */
const electron = {
  'electron/main': 'electron/main/main.ts',
  'electron/preload': 'electron/preload/preload.ts',
  'electron/engine': 'electron/server/utility.ts',
};

try {
  await Promise.all([
    build({
      ...common,
      entryPoints: node,
      outdir: staging,
      format: 'esm',
      target: 'node20',
      // Bundled CommonJS dependencies still call require().
      banner: {
        js: "import { createRequire as forkyardRequire } from 'node:module'; const require = forkyardRequire(import.meta.url);",
      },
    }),
    build({
      ...common,
      entryPoints: electron,
      outdir: staging,
      outExtension: { '.js': '.cjs' },
      format: 'cjs',
      target: 'node16',
      define: {
        ...versionName,
        'import.meta.url': 'forkyardUrl',
        'import.meta.dirname': '__dirname',
        'import.meta.filename': '__filename',
      },
      banner: {
        js: "const forkyardUrl = typeof __filename === 'string' ? require('url').pathToFileURL(__filename).href : '';",
      },
    }),
    buildRenderer({
      configFile: join(root, 'vite.config.ts'),
      logLevel: 'warn',
      // Read from the disk: one file is as good as many.
      build: { outDir: join(staging, 'renderer'), chunkSizeWarningLimit: 4096 },
    }),
  ]);
  chmodSync(join(staging, 'cli', 'forkyard.js'), 0o755);
  rmSync(`${staging}.old`, { recursive: true, force: true });
  swap();
} finally {
  rmSync(staging, { recursive: true, force: true });
  rmSync(`${staging}.old`, { recursive: true, force: true });
}

function swap() {
  try {
    renameSync(dist, `${staging}.old`);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  renameSync(staging, dist);
}
