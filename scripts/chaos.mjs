// `npm run chaos`: builds, then kills the engine and its servers at every step of what changes data; `npm test` does so at some.
// What follows is given to vitest: `npm run chaos -- -t 'home killed'`.
import { spawnSync } from 'node:child_process';
import { buildFirst, root } from './bundled.mjs';

buildFirst();
const args = ['vitest', 'run', '--project', 'integration', '--maxWorkers=1', 'crash-', ...process.argv.slice(2)];
const env = { ...process.env, FORKYARD_CRASHES: 'all' };
const { status } = spawnSync('npx', args, { cwd: root, stdio: 'inherit', env, shell: process.platform === 'win32' });
process.exitCode = status ?? 1;
