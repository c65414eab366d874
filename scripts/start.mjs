// `npm start`: the desktop app where there is a display and an Electron, else the very same app in a browser.
// Arguments are passed on: to Electron, or to `forkyard up`.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { canReachElectron } from './vendor.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);

if (!existsSync(join(root, 'dist', 'cli', 'forkyard.js'))) {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
const electron = findElectron();
if ('path' in electron) run(electron.path, [root, ...chromiumFlags(), ...args]);
else {
  console.error(`${electron.reason} This is the same app for a browser: open the link.`);
  run(process.execPath, [join(root, 'dist', 'cli', 'forkyard.js'), 'up', ...args]);
}

/** Without a display nothing of Electron is touched: neither its download nor its libraries would be of use. */
function findElectron() {
  if (!hasDisplay()) return { reason: 'There is no display.' };
  const folder = join(root, 'node_modules', 'electron');
  if (!existsSync(folder)) return { reason: 'Electron is not installed.' };
  if (installed(folder) === undefined && !install(folder)) return { reason: 'There is no Electron.' };
  const path = installed(folder);
  return path === undefined ? { reason: 'There is no Electron.' } : { path };
}

function hasDisplay() {
  if (process.platform !== 'linux') return true;
  return Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);
}

function installed(folder) {
  const file = join(folder, 'path.txt');
  if (!existsSync(file)) return undefined;
  const path = join(process.env.ELECTRON_OVERRIDE_DIST_PATH ?? join(folder, 'dist'), readFileSync(file, 'utf8'));
  return existsSync(path) ? path : undefined;
}

/** Electron's own installer, which says itself what is missing. It may hang behind a wall: then it is given up. */
function install(folder) {
  const { engines } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const wanted = /\d+(\.\d+)*/.exec(engines?.node ?? '0')?.[0] ?? '0';
  if (isOlder(process.versions.node, wanted)) {
    console.error(`Electron's installer needs Node ${wanted} or newer; this is ${process.versions.node}.`);
    return false;
  }
  if (!canReachElectron()) {
    console.error('The place where Electron is downloaded from does not answer.');
    return false;
  }
  console.error('Downloading Electron, once…');
  const { status } = spawnSync(process.execPath, [join(folder, 'install.js')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return status === 0;
}

function isOlder(version, wanted) {
  const [a, b] = [version, wanted].map((each) => each.split('.').map(Number));
  const at = [0, 1, 2].find((i) => (a[i] ?? 0) !== (b[i] ?? 0));
  return at !== undefined && (a[at] ?? 0) < (b[at] ?? 0);
}

/** Chromium refuses its sandbox to root, and needs shared memory that some containers keep tiny. */
function chromiumFlags() {
  if (process.platform !== 'linux') return [];
  const asRoot = process.getuid?.() === 0;
  return [...(asRoot ? ['--no-sandbox'] : []), ...(hasTinySharedMemory() ? ['--disable-dev-shm-usage'] : [])];
}

function hasTinySharedMemory() {
  try {
    const { bsize, blocks } = statfsSync('/dev/shm');
    return bsize * blocks < 256 * 1024 * 1024;
  } catch {
    return true;
  }
}

/** Stays as long as the child does; an interrupt is the child's to answer. */
function run(command, commandArgs) {
  const child = spawn(command, commandArgs, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
  child.on('exit', (code) => (process.exitCode = code ?? 1));
}
