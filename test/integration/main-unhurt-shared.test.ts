import { randomBytes } from 'node:crypto';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { filesUnder } from '../../electron/engine/mongod/files.ts';
import { EngineProcess } from '../harness/engine-process.ts';
import { MainWatch } from '../harness/main-watch.ts';

/** A file system that shares blocks between files. It needs a loop mount, which some containers do not allow. */
const run = promisify(execFile);
let root: string;
let mounted = false;
let whyNot = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'fy-xfs-'));
  try {
    const image = join(root, 'image');
    await writeFile(image, '');
    await truncate(image, 1.5e9);
    await run('mkfs.xfs', ['-q', '-m', 'reflink=1', image]);
    await mkdir(join(root, 'mount'));
    await run('mount', ['-o', 'loop', image, join(root, 'mount')]);
    mounted = true;
  } catch (error) {
    whyNot = (error as Error).message.trim();
  }
});
afterAll(async () => {
  if (mounted) await run('umount', [join(root, 'mount')]);
  await rm(root, { recursive: true, force: true });
});

it('on a file system that shares blocks a fork takes no space of its own and says so', async ({ skip }) => {
  if (!mounted) console.warn(`Block sharing is not tested here: ${whyNot}`);
  skip(!mounted, whyNot);
  const data = join(root, 'mount', 'data');
  await mkdir(data);
  const engine = await EngineProcess.open(data);
  try {
    const items = (await engine.outside('main')).db('shop').collection<{ _id: number; bytes: Buffer }>('items');
    const random = (_: unknown, _id: number) => ({ _id, bytes: randomBytes(500_000) });
    await items.insertMany(Array.from({ length: 20 }, random));
    const watch = await MainWatch.start(engine);
    const { branch } = await engine.call('branches.fork', { name: 'shared' });
    expect(branch.disk).toBe('shared');
    // By the file system's own word, of the file that holds the documents.
    const { stdout } = await run('filefrag', ['-v', await largest(join(data, 'branches', branch.id, 'db'))]);
    expect(stdout).toMatch(/\bshared\b/);
    const clone = (await engine.outside('shared')).db('shop').collection<{ _id: number; bytes: Buffer }>('items');
    await clone.updateMany({ _id: { $lt: 10 } }, { $set: { bytes: Buffer.from('its own') } });
    expect(await items.countDocuments({ bytes: Buffer.from('its own') })).toBe(0);
    expect(await clone.countDocuments()).toBe(20);
    expect(await watch.harm()).toEqual([]);
    await watch.stop();
  } finally {
    await engine.close();
  }
});

async function largest(folder: string): Promise<string> {
  const files = await filesUnder(folder, (path) => path.startsWith('collection-'));
  return join(folder, files.sort((a, b) => b.bytes - a.bytes)[0]!.path);
}
