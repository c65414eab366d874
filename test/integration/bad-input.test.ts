import { createServer } from 'node:net';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resolveMongod } from '../../electron/engine/mongod/binary/resolve.ts';
import { CommandYard } from '../harness/command.ts';
import type { Ended } from '../harness/command.ts';
import { timed } from '../harness/own-time.ts';

let yard: CommandYard;
beforeAll(async () => {
  yard = await CommandYard.open();
  await yard.json('import', 'sample:three', '--into', 'main');
});
afterAll(() => yard.close());

interface Refusal {
  readonly exit: number | null;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

/** What a command that must fail says; nothing on stdout, one sentence and a hint on stderr. */
async function refused(...args: string[]): Promise<Refusal> {
  const { code, out, err } = await yard.run(...args, '--json');
  expect(out).toBe('');
  const { error } = JSON.parse(err.trim().split('\n').at(-1) ?? '') as { error: Omit<Refusal, 'exit'> };
  expect(error.message).toMatch(/^[^\n]+[.!?]$/);
  expect(error.hint, error.message).toBeTruthy();
  return { exit: code, ...error };
}

async function file(name: string, text: string): Promise<string> {
  const path = join(yard.data, '..', name);
  await writeFile(path, text);
  return path;
}

const into = ['--into', 'main', '--db', 'bad', '--collection'] as const;

async function documents(): Promise<number> {
  const [main] = await yard.json<{ documents: number }[]>('branches');
  return main?.documents ?? -1;
}

it('an unknown branch exits 4 and names those there are', async () => {
  const commands = [
    ['diff', 'nobody'],
    ['uri', 'nobody'],
    ['discard', 'nobody'],
    ['fork', 'x', '--from', 'nobody'],
    ['log', 'nobody'],
  ];
  for (const refusal of await Promise.all(commands.map((args) => refused(...args))))
    expect(refusal).toMatchObject({ exit: 4, code: 'unknown_branch' });
  expect((await refused('keep', 'nobody')).hint).toContain('main');
});

it('an unknown plan, entry or file exits 4', async () => {
  expect(await refused('apply', 'plan-0')).toMatchObject({ exit: 4, code: 'unknown_plan' });
  expect(await refused('undo', 'adopt-0')).toMatchObject({ exit: 4, code: 'unknown_entry' });
  expect(await refused('import', '/nowhere.json', ...into, 'c')).toMatchObject({ exit: 4, code: 'unknown_file' });
});

it('a taken name exits 1 and leaves one branch of that name', async () => {
  await yard.json('fork', 'taken');
  expect(await refused('fork', 'taken')).toMatchObject({ exit: 1, code: 'name_taken' });
  const names = (await yard.json<{ name: string }[]>('branches', '--all')).map(({ name }) => name);
  expect(names.filter((name) => name === 'taken')).toEqual(['taken']);
  await yard.json('discard', 'taken', '--now');
});

it('a name with odd characters exits 2', async () => {
  const names = ['a b', 'a/b', '../x', 'ünï', '.', 'x'.repeat(64), "o'brien"];
  for (const refusal of await Promise.all(names.map((name) => refused('fork', name))))
    expect(refusal).toMatchObject({ exit: 2, code: 'name_invalid' });
});

it('a time to live of 0, "soon" or below zero exits 2', async () => {
  const lives = ['0', '0s', 'soon', '1y'];
  for (const refusal of await Promise.all(lives.map((ttl) => refused('fork', 'x', '--ttl', ttl))))
    expect(refusal).toMatchObject({ exit: 2, code: 'ttl_invalid' });
  expect((await yard.json<unknown[]>('branches')).length).toBe(1);
});

it('a file that is not JSON is named with its line and exits 1, and nothing of it is written', async () => {
  const before = await documents();
  const path = await file('bad.ndjson', '{"_id": 1}\n{"_id": 2}\n{"_id": oops}\n{"_id": 4}\n');
  const error = await refused('import', path, ...into, 'c');
  expect(error).toMatchObject({ exit: 1, code: 'import_parse' });
  expect(error.message).toContain('line 3');
  expect(await documents()).toBe(before);
});

it('a file without a database or collection to go to exits 2', async () => {
  const path = await file('good.json', '[{"_id": 1}]');
  expect(await refused('import', path, '--into', 'main')).toMatchObject({ exit: 2, code: 'usage' });
});

it('duplicate ids are named, the rest is imported, and the exit code is 1', async () => {
  const path = await file('twice.ndjson', '{"_id": 1}\n{"_id": 2}\n{"_id": 1}\n');
  const { code, out } = await yard.run('import', path, ...into, 'twice', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    collections: [{ ns: 'bad.twice', documents: 2 }],
    problems: [{ ns: 'bad.twice', line: 3, id: { $numberInt: '1' } }],
  });
});

it('a deployment that does not answer is named without its password, within 10 s', async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number };
  let ended: Ended | undefined;
  const plainMs = await timed(() => yard.run('branches', '--json'));
  const ms = await timed(async () => {
    ended = await yard.run('import', `mongodb://u:s3cret-word@127.0.0.1:${port}/`, '--into', 'main', '--json');
  });
  silent.close();
  const { code, out, err } = ended!;
  expect({ code, out }).toEqual({ code: 1, out: '' });
  // Beside what any command takes on this machine at this time.
  expect(ms).toBeLessThan(10_000 + Math.max(1_000, 3 * plainMs));
  expect(err).toContain(`127.0.0.1:${port}`);
  expect(err).not.toContain('s3cret-word');
});

it('main is never discarded', async () => {
  expect(await refused('discard', 'main')).toMatchObject({ exit: 1, code: 'main_protected' });
  expect(await refused('extend', 'main', '--ttl', '1h')).toMatchObject({ code: 'main_protected' });
});

it('an unknown flag or command exits 2 with the nearest word', async () => {
  expect(await refused('fork', 'x', '--tll', '1h')).toMatchObject({ exit: 2, code: 'usage' });
  const error = await refused('brnches');
  expect(error).toMatchObject({ exit: 2, code: 'usage' });
  expect(error.hint).toContain('branches');
});

it('a server that is too old, or no server at all, is told in a sentence', async () => {
  const old = await file('mongod-old', '#!/bin/sh\necho "db version v4.4.1"\n');
  await chmod(old, 0o755);
  for (const [path, code] of [
    [old, 'mongod_too_old'],
    ['/nowhere/mongod', 'mongod_missing'],
  ] as const) {
    const other = await CommandYard.open('data', { FORKYARD_MONGOD: path });
    const { code: exit, out, err } = await other.run('branches', '--json');
    expect({ exit, out }).toEqual({ exit: 1, out: '' });
    expect(err).toContain(`"code":"${code}"`);
    await other.close();
  }
});

it('a sandbox whose server does not come up leaves nothing but the server’s log, and the error says where that is', async () => {
  const { path } = await resolveMongod({ dataDir: yard.data });
  const broken = join(yard.data, '..', 'broken');
  // Takes a file away from the clone: a real server on damaged files.
  const script = await file(
    'mongod-breaking',
    `#!/bin/sh\n[ "$1" = --dbpath ] && [ -e '${broken}' ] && rm "$2/_mdb_catalog.wt"\nexec '${path}' "$@"\n`,
  );
  await chmod(script, 0o755);
  const other = await CommandYard.open('data', { FORKYARD_MONGOD: script });
  try {
    await other.run('branches');
    await writeFile(broken, '');
    const { code, out, err } = await other.run('fork', 'x', '--json');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    const log = join(other.data, 'failed-server.log');
    expect((JSON.parse(err) as { error: object }).error).toMatchObject({
      code: 'mongod_failed',
      hint: expect.stringContaining(log),
    });
    expect(await readFile(log, 'utf8')).toMatch(/"s":"[EF]"/);
    await rm(broken);
    expect(await other.run('fork', 'x')).toMatchObject({ code: 0 });
  } finally {
    await other.close();
  }
});
