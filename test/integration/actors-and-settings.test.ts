import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestYard } from '../harness/in-process.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
});
afterAll(() => yard.close());

/** Whether a connection string lets anybody in who connects now. */
async function letsIn(uri: string): Promise<boolean> {
  const client = new MongoClient(uri);
  try {
    await client.db('shop').collection('products').findOne();
    return true;
  } catch {
    return false;
  } finally {
    await client.close();
  }
}

describe('actors', () => {
  it('have a credential each, with an access level of their own, and are told apart in the record', async () => {
    await yard.fork('actors');
    const added = await yard.call('actors.add', { branch: 'actors', actor: 'reader', access: 'read' });
    await yard.call('actors.add', { branch: 'actors', actor: 'cursor', access: 'readWrite' });
    const reader = await new MongoClient(added.uri).connect();
    const cursor = await yard.client('actors', 'cursor');
    await cursor
      .db('shop')
      .collection('products')
      .insertMany([{ n: 1 }, { n: 2 }]);
    await expect(reader.db('shop').collection('products').insertOne({ n: 3 })).rejects.toThrow(/not authorized/);
    await yard.call('changes.page', { branch: 'actors', settle: true });
    const rows = await yard.call('actors.list', { branch: 'actors' });
    expect(rows.find(({ actor }) => actor === 'cursor')).toMatchObject({
      access: 'readWrite',
      writes: { added: 2, modified: 0, removed: 0 },
      lastWriteAt: expect.any(String) as string,
    });
    expect(rows.find(({ actor }) => actor === 'reader')).toMatchObject({
      writes: { added: 0, modified: 0, removed: 0 },
    });
    expect(rows.find(({ actor }) => actor === 'reader')!.connections).toBeGreaterThan(0);

    await yard.call('actors.access', { branch: 'actors', actor: 'reader', access: 'readWrite' });
    await reader.db('shop').collection('products').insertOne({ n: 3 });
    await reader.close();
  });

  it('are refused at once when they are taken away or get a new password, also where they are connected', async () => {
    await yard.fork('revoked');
    const { uri } = await yard.call('actors.add', { branch: 'revoked', actor: 'tmp' });
    const open = await new MongoClient(uri).connect();
    await open.db('shop').collection('products').insertOne({ n: 1 });
    const renewed = await yard.call('actors.renew', { branch: 'revoked', actor: 'tmp' });
    expect(await letsIn(uri)).toBe(false);
    expect(await letsIn(renewed.uri)).toBe(true);
    await expect(open.db('shop').collection('products').insertOne({ n: 2 })).rejects.toThrow();
    await open.close();

    await yard.call('actors.remove', { branch: 'revoked', actor: 'tmp' });
    expect(await letsIn(renewed.uri)).toBe(false);
    const { changes } = await yard.call('changes.page', { branch: 'revoked', settle: true });
    expect(changes.map(({ actor }) => actor)).toContain('tmp');
    const [last] = await yard.call('actors.list', { branch: 'revoked' });
    await expect(yard.call('actors.remove', { branch: 'revoked', actor: last!.actor })).rejects.toMatchObject({
      code: 'usage',
    });
    await expect(yard.call('actors.add', { branch: 'revoked', actor: last!.actor })).rejects.toMatchObject({
      code: 'name_taken',
    });
  });

  it('are tested by connecting as a program would', async () => {
    await (await yard.client('actors')).db('seen').collection('c').insertOne({});
    const test = await yard.call('branches.test', { branch: 'actors' });
    expect(test.databases).toContain('seen');
    expect(test.version).toMatch(/^\d+\.\d+\.\d+/);
    await expect(yard.call('branches.test', { branch: 'actors', actor: 'nobody' })).rejects.toMatchObject({
      code: 'usage',
    });
  });
});

describe('settings', () => {
  it('give new sandboxes their life and their memory, and outlive a restart', async () => {
    await yard.call('settings.set', { defaultTtlMs: 2 * 60 * 60_000, cacheMB: 384 });
    await yard.restart();
    expect((await yard.call('settings.get', {})).settings).toEqual({
      defaultTtlMs: 2 * 60 * 60_000,
      cacheMB: 384,
      diskReserveMB: 256,
    });
    const { branch } = await yard.call('branches.fork', { name: 'set' });
    expect(Date.parse(branch.expiresAt!) - Date.parse(branch.forkedAt!)).toBeGreaterThan(110 * 60_000);
    const cmdlines = await Promise.all(
      (await readdir('/proc'))
        .filter((pid) => /^\d+$/.test(pid))
        .map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    );
    const own = cmdlines.find((line) => line.includes(`branches/${branch.id}/db`));
    expect(own?.split('\0')).toContain('0.375');
    await yard.call('settings.set', { defaultTtlMs: null });
    expect((await yard.call('branches.fork', { name: 'kept' })).branch.expiresAt).toBeUndefined();
  });

  it('take no mongod that is none, and keep the one before', async () => {
    for (const mongod of ['/no/such/mongod', import.meta.filename]) {
      await expect(yard.call('settings.set', { mongod })).rejects.toMatchObject({ code: 'mongod_missing' });
    }
    expect((await yard.call('settings.get', {})).settings.mongod).toBeUndefined();
  });

  it('hand out diagnostics without names, values or credentials', async () => {
    const { uri } = await yard.call('branches.uri', { branch: 'revoked' });
    const { text } = await yard.call('engine.diagnostics', {});
    expect(text).toMatch(/mongod \d+\.\d+/);
    expect(text).toMatch(/branch-\d+, live/);
    expect(text).not.toContain('revoked');
    expect(text).not.toContain(new URL(uri).password);
  });
});

describe('a file handed over in pieces', () => {
  it('is imported under its own name and leaves nothing behind', async () => {
    const whole = Buffer.from('{"_id": 1}\n{"_id": 2}\n');
    const base64 = (from: number, to: number) => whole.subarray(from, to).toString('base64');
    const { source } = await yard.call('transfer.upload', { name: '../../etc/two docs.ndjson', bytes: base64(0, 7) });
    await yard.call('transfer.upload', { name: 'two docs.ndjson', source, bytes: base64(7, whole.length) });
    const result = await yard.call('transfer.import', { source, into: 'actors', db: 'd', collection: 'c' });
    expect(result.collections).toEqual([{ ns: 'd.c', documents: 2 }]);
    const log = await yard.call('log.list', { branch: 'actors' });
    expect(log.map(({ text }) => text).join('\n')).toContain('from two docs.ndjson');
    expect(await readdir(join(yard.data, 'uploads')).catch(() => [])).toEqual([]);
    await expect(
      yard.call('transfer.import', { source, into: 'actors', db: 'd', collection: 'c' }),
    ).rejects.toMatchObject({ code: 'unknown_file' });
  });

  it('names the line of a mistake in it', async () => {
    const bytes = Buffer.from('{"_id": 1}\n{"_id": }\n').toString('base64');
    const { source } = await yard.call('transfer.upload', { name: 'bad.json', bytes });
    await expect(
      yard.call('transfer.import', { source, into: 'main', db: 'd', collection: 'bad' }),
    ).rejects.toMatchObject({ code: 'import_parse', message: expect.stringContaining('bad.json, line 2') as string });
  });
});
