import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BranchRow } from '../../shared/api.ts';
import { sharesBlocks } from '../../electron/engine/mongod/clone.ts';
import { freeBytes } from '../../electron/engine/mongod/disk-space.ts';
import { CommandYard } from '../harness/command.ts';

let yard: CommandYard;
beforeAll(async () => {
  yard = await CommandYard.open();
});
afterAll(() => yard.close());

it('a disk too small for a clone is refused before anything is copied, with both numbers, and nothing is left of it', async () => {
  await yard.json('import', 'sample:three', '--into', 'main');
  const branches = join(yard.data, 'branches');
  const files = join(branches, 'main', 'db');
  // A file that has no block yet and is larger than all that is free: a copy of it would fill the disk.
  const hole = await open(join(files, 'hole.wt'), 'w');
  await hole.truncate((await freeBytes(branches)) + 1_000_000_000);
  await hole.close();
  const before = await readdir(branches);
  const { code, err, out } = await yard.run('fork', 'large', '--json');
  if (await sharesBlocks(join(files, 'WiredTiger'), join(branches, '.shares'))) {
    // Where blocks are shared a clone needs no space, whatever the files are worth.
    expect(code).toBe(0);
    return;
  }
  expect({ code, out }).toEqual({ code: 1, out: '' });
  const { error } = JSON.parse(err.trim().split('\n').at(-1)!) as { error: { message: string } };
  expect(error).toMatchObject({ code: 'no_space', hint: expect.any(String) });
  const numbers =
    /^There is not enough disk space for this fork: it needs ([\d,]+) MB, and ([\d,]+) MB are free\.$/.exec(
      error.message,
    );
  const [needed = 0, free = 0] = numbers?.slice(1).map((text) => Number(text.replaceAll(',', ''))) ?? [];
  expect(needed).toBeGreaterThan(free);
  expect(free).toBeGreaterThan(0);
  expect(await readdir(branches)).toEqual(before);
  expect((await yard.json<BranchRow[]>('branches')).map(({ name, state }) => [name, state])).toEqual([
    ['main', 'live'],
  ]);
});
