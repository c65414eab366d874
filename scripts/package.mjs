// `npm run package`: builds, then packs the desktop app into `release/`: an unpacked app, and with `--targets` the
// installers of this system, whose tools electron-builder downloads. `--with-mongod [FILE]` bundles a database server,
// `--out DIR` packs elsewhere, `--no-build` packs the `dist` that is there.
import { build, Platform } from 'electron-builder';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import config from '../electron-builder.config.mjs';
import { electronShell, shellVersion } from './electron-shell.mjs';
import { mongodResolver } from './resolve-mongod.mjs';
import { canReachElectron } from './vendor.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    targets: { type: 'boolean' },
    'with-mongod': { type: 'boolean' },
    'no-build': { type: 'boolean' },
    out: { type: 'string' },
  },
});
const release = resolve(root, values.out ?? 'release');
if (!values['no-build']) {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
const staging = join(release, '.staging');
rmSync(staging, { recursive: true, force: true });
mkdirSync(staging, { recursive: true });
try {
  const withMongod = values['with-mongod'] || Boolean(process.env.FORKYARD_BUNDLE_MONGOD);
  const bundled = withMongod ? await bundleMongod(positionals[0]) : undefined;
  await build({
    projectDir: root,
    publish: 'never',
    targets: Platform.current().createTarget(values.targets ? undefined : 'dir'),
    config: {
      ...config,
      ...electron(),
      directories: { ...config.directories, output: release },
      ...(bundled === undefined ? {} : { extraResources: [{ from: bundled, to: 'mongod' }] }),
      // Where updates are asked for; without it the app has no way to ask.
      publish: process.env.FORKYARD_UPDATE_URL
        ? { provider: 'generic', url: process.env.FORKYARD_UPDATE_URL, channel: 'latest' }
        : null,
    },
  });
} finally {
  rmSync(staging, { recursive: true, force: true });
}

/**
 * The installed Electron; else electron-builder downloads the one that package.json names; where it cannot, the tests' old
 * shell, which makes a package to test and not one to give away.
 */
function electron() {
  const own = join(root, 'node_modules', 'electron', 'dist');
  if (existsSync(join(own, 'version'))) return { electronDist: own };
  if (canReachElectron()) return {};
  const dist = join(staging, 'electron');
  cpSync(dirname(electronShell()), dist, {
    recursive: true,
    verbatimSymlinks: true,
    // What the AppImage has beside Electron, and the link to this checkout.
    filter: (source) => !/\/(usr|AppRun|\.DirIcon|fiftyone[^/]*|resources\/.*)$/.test(source),
  });
  console.error(`Electron cannot be downloaded here: packing version ${shellVersion}, for tests only.`);
  return { electronDist: dist, electronVersion: shellVersion };
}

/** A folder with the server and its licence: the named file, else the one that the engine would use. */
async function bundleMongod(named = process.env.FORKYARD_BUNDLE_MONGOD || undefined) {
  const find = await mongodResolver();
  const { path, version } = await find({ dataDir: staging, ...(named ? { explicit: resolve(named) } : {}) });
  const folder = join(staging, 'mongod');
  const target = join(folder, process.platform === 'win32' ? 'mongod.exe' : 'mongod');
  mkdirSync(folder);
  copyFileSync(path, target);
  chmodSync(target, 0o755);
  writeFileSync(join(folder, 'LICENCE.txt'), licence(version));
  console.error(`Bundling mongod ${version} from ${path}.`);
  return folder;
}

function licence(version) {
  return [
    `mongod ${version} is MongoDB Community Server, unmodified, by MongoDB, Inc.`,
    'It is licensed under the Server Side Public License, version 1:',
    'https://www.mongodb.com/licensing/server-side-public-license',
    `Its source: https://github.com/mongodb/mongo/tree/r${version}`,
    '',
  ].join('\n');
}
