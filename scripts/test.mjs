// `npm test`: set-up, build, then every part; all of them run whatever fails, and the last line counts them together.
// `node scripts/test.mjs unit integration` runs only these parts.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const reports = mkdtempSync(path.join(os.tmpdir(), 'forkyard-test-'));
const total = { passed: 0, failed: 0, skipped: 0 };

const parts = { check, unit: () => vitest('unit'), integration: () => vitest('integration'), e2e, demo };
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in parts));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}.`);
  process.exit(2);
}

try {
  if (await ready()) {
    for (const [name, run] of Object.entries(parts))
      if (asked.length === 0 || asked.includes(name)) await part(name, run);
  }
} finally {
  rmSync(reports, { recursive: true, force: true });
}
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
process.exitCode = total.failed > 0 ? 1 : 0;

/** Set-up and build; without the first nothing can be tested, without the second the parts that need no build still can. */
async function ready() {
  if ((await run('node', ['scripts/setup.mjs'])).code !== 0) {
    total.failed += 1;
    return false;
  }
  if (!isBuilt() && (await run('npm', ['run', '--silent', 'build'])).code !== 0) {
    console.log('The build failed.');
    total.failed += 1;
  }
  return true;
}

async function part(name, run) {
  console.log(`\n== ${name}`);
  const started = Date.now();
  const counts = await run();
  if (!counts) return;
  for (const key of Object.keys(total)) total[key] += counts[key];
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(`== ${name}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped (${seconds} s)`);
}

/** Types, lint, format and unused code, side by side; the output of those that fail. */
async function check() {
  const names = ['check:types', 'check:lint', 'check:format', 'check:unused'];
  const results = await Promise.all(names.map((name) => run('npm', ['run', '--silent', name], { quiet: true })));
  results.forEach(({ code, output }, i) =>
    console.log(code === 0 ? `${names[i]} passed` : `${names[i]} FAILED\n${output}`),
  );
  const failed = results.filter(({ code }) => code !== 0).length;
  return { passed: names.length - failed, failed, skipped: 0 };
}

async function vitest(project) {
  const report = path.join(reports, `${project}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { code } = await run('npx', ['vitest', 'run', '--project', project, ...reporters]);
  const json = readReport(report);
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const file of json?.testResults ?? []) {
    const failedBefore = counts.failed;
    for (const { status } of file.assertionResults) {
      counts[status === 'passed' ? 'passed' : status === 'failed' ? 'failed' : 'skipped'] += 1;
    }
    // A file that does not load, or a hook that throws, fails without a test of its own.
    if (file.status === 'failed' && counts.failed === failedBefore) counts.failed += 1;
  }
  return atLeastOneFailure(counts, code);
}

async function e2e() {
  if (!existsSync(path.join(root, 'playwright.config.ts'))) return undefined;
  const report = path.join(reports, 'e2e.json');
  const env = { PLAYWRIGHT_JSON_OUTPUT_NAME: report };
  const { code } = await run('npx', ['playwright', 'test', '--reporter=list,json'], { env });
  const stats = readReport(report)?.stats;
  const counts = { passed: stats?.expected ?? 0, failed: stats?.unexpected ?? 0, skipped: stats?.skipped ?? 0 };
  // One that passes only when repeated is not a pass.
  counts.failed += stats?.flaky ?? 0;
  return atLeastOneFailure(counts, code);
}

/** The worked example, in a data folder of its own; each step that it ticks off counts. */
async function demo() {
  const data = mkdtempSync(path.join(os.tmpdir(), 'forkyard-demo-'));
  try {
    const { code, output } = await run('node', ['dist/cli/forkyard.js', 'demo'], { env: { FORKYARD_DATA: data } });
    const steps = output.split('\n').filter((line) => /^\s*✓ /.test(line)).length;
    return atLeastOneFailure({ passed: code === 0 ? Math.max(steps, 1) : steps, failed: 0, skipped: 0 }, code);
  } finally {
    rmSync(data, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A part that fails as a whole (a crash, an unhandled error) must not count as passed. */
function atLeastOneFailure(counts, code) {
  return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

function readReport(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** Runs a command in the checkout, showing its output unless `quiet`. */
function run(command, args, { env = {}, quiet = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    });
    let output = '';
    const show = (stream) => (chunk) => {
      output += chunk;
      if (!quiet) stream.write(chunk);
    };
    child.stdout.on('data', show(process.stdout));
    child.stderr.on('data', show(process.stderr));
    child.on('error', (error) => resolve({ code: 1, output: error.message }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

/** Whether everything built is newer than everything it is built from, which tests are not. */
function isBuilt() {
  const built = path.join(root, 'dist', 'cli', 'forkyard.js');
  if (!existsSync(built)) return false;
  const sources = [
    'electron',
    'renderer',
    'shared',
    'resources',
    'scripts/build.mjs',
    'vite.config.ts',
    'package.json',
  ];
  return newest(sources.map((name) => path.join(root, name))) < statSync(built).mtimeMs;
}

function newest(paths) {
  let latest = 0;
  for (const file of paths) {
    if (!existsSync(file) || /\.test\.tsx?$/.test(file)) continue;
    const stat = statSync(file);
    const inside = stat.isDirectory() ? readdirSync(file).map((name) => path.join(file, name)) : [];
    latest = Math.max(latest, stat.isDirectory() ? newest(inside) : stat.mtimeMs);
  }
  return latest;
}
