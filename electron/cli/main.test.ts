import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Change } from '../../shared/api.ts';
import { parseEjson } from '../../shared/bson/ejson.ts';
import { toBase64 } from '../../shared/bson/value.ts';
import { ForkyardError } from '../../shared/errors.ts';
import { EventRing } from '../../shared/rpc/event-ring.ts';
import { serve } from '../../shared/rpc/serve.ts';
import type { Callable } from '../../shared/rpc/serve.ts';
import { pointerFile, socketPath } from '../local/data.ts';
import { streamTransport } from '../local/ndjson.ts';
import { main } from './main.ts';

let data: string;
let server: Server;
let answers: Record<string, (input: never, signal: AbortSignal) => unknown>;
let asked: { method: string; input: unknown }[];

/** A data folder whose engine answers what the test says. */
beforeEach(async () => {
  data = realpathSync(mkdtempSync(join(tmpdir(), 'forkyard-cli-')));
  answers = {};
  asked = [];
  const engine: Callable = {
    async call(method, input, { signal }) {
      asked.push({ method, input });
      return (await answers[method]?.(input as never, signal)) as never;
    },
  };
  const socket = socketPath(data);
  server = createServer((connection) => {
    serve(streamTransport(connection), { engine, events: new EventRing() });
  }).listen(socket);
  await once(server, 'listening');
  writeFileSync(pointerFile(data), JSON.stringify({ pid: process.pid, startTime: '', socket }));
});
afterEach(() => {
  server.close();
  rmSync(data, { recursive: true });
});

async function forkyard(argv: string[], signal = new AbortController().signal) {
  const printed = { out: '', err: '' };
  const code = await main([...argv, '--data', data], {
    out: { write: (text) => (printed.out += text) },
    err: { write: (text) => (printed.err += text) },
    stdin: Readable.from([]),
    env: {},
    signal,
  });
  return { code, ...printed };
}

const bson = (text: string): string => toBase64(parseEjson(text));
const refuse = (error: ForkyardError) => () => Promise.reject(error);

test('an answer is one JSON value on stdout and nothing else', async () => {
  answers['branches.uri'] = () => ({ uri: 'mongodb://u:p@127.0.0.1:1/', actor: 'owner' });
  expect(await forkyard(['uri', 'b', '--json'])).toEqual({
    code: 0,
    out: '{"uri":"mongodb://u:p@127.0.0.1:1/","actor":"owner"}\n',
    err: '',
  });
  expect((await forkyard(['uri', 'b'])).out).toBe('mongodb://u:p@127.0.0.1:1/\n');
  expect((await forkyard(['uri', 'b', '--as', 'env'])).out).toBe('MONGODB_URI="mongodb://u:p@127.0.0.1:1/"\n');
  expect(JSON.parse((await forkyard(['uri', 'b', '--as', 'vscode', '--json'])).out)).toHaveProperty('snippet');
  expect(await forkyard(['uri', 'b', '--as', 'fortran'])).toMatchObject({ code: 2, out: '' });
});

test('an error is a sentence and a hint for people, a JSON value for programs, and its exit code for both', async () => {
  const moved = [{ ns: 'shop.products', id: bson('{"$numberLong":"5"}') }];
  answers['plan.apply'] = refuse(
    new ForkyardError('plan_stale', 'The plan is stale.', { hint: 'Plan again.', details: { moved } }),
  );
  expect(await forkyard(['apply', 'p'])).toEqual({
    code: 3,
    out: '',
    err: 'The plan is stale.\n  shop.products Long("5")\nhint: Plan again.\n',
  });
  const json = await forkyard(['apply', 'p', '--json']);
  expect(json).toMatchObject({ code: 3, out: '' });
  expect(JSON.parse(json.err)).toEqual({
    error: {
      code: 'plan_stale',
      message: 'The plan is stale.',
      hint: 'Plan again.',
      retry: false,
      moved: [{ ns: 'shop.products', id: { $numberLong: '5' } }],
    },
  });
});

test('what an undo meets is told with its values as Extended JSON', async () => {
  const fields = [{ path: ['n'], base: bson('1'), branch: bson('0'), class: 'divergent' }];
  const conflicting = [
    { ns: 'shop.products', id: bson('{"$numberLong":"5"}'), kind: 'modified', conflict: true, fields },
  ];
  answers['changes.undo'] = () => ({ plan: 'p', items: 0, conflicts: 1, checks: [], conflicting });
  const json = await forkyard(['undo', 'b', '--seq', '1', '--json']);
  expect(json).toMatchObject({ code: 3, out: '' });
  expect(JSON.parse(json.err)).toMatchObject({
    error: {
      code: 'conflicts',
      documents: [
        {
          ns: 'shop.products',
          id: { $numberLong: '5' },
          fields: [{ path: ['n'], base: { $numberInt: '1' }, branch: { $numberInt: '0' } }],
        },
      ],
    },
  });
});

test('a moment is a number of a change or an ISO time, and nothing that merely could be read as one', async () => {
  const at = { seq: 3 };
  answers['restore.preview'] = () => ({ at, summary: [], schema: [], documents: [] });
  for (const to of ['3', '2026-11-29', '2026-11-29 14:00', '2026-11-29T14:00Z', '2026-11-29T14:00:12.5+01:00'])
    expect((await forkyard(['restore', 'b', '--preview', '--to', to])).code, to).toBe(0);
  for (const to of ['-1', '3.5', '1e3', 'yesterday', 'March 7', '2026-11', '2026-13-01T00:00:00Z', ''])
    expect((await forkyard(['restore', 'b', '--preview', '--to', to])).code, to).toBe(2);
});

test.each([
  ['unknown_branch', 4],
  ['name_taken', 1],
  ['conflicts', 3],
  ['name_invalid', 2],
] as const)('%s exits %d', async (code, exit) => {
  answers['plan.adopt'] = refuse(new ForkyardError(code, 'No.'));
  expect((await forkyard(['adopt', 'b'])).code).toBe(exit);
});

test('usage errors go to stderr as JSON too, and reach no engine', async () => {
  for (const argv of [
    ['fork', 'b', '--ttl', 'soon'],
    ['fork', 'b', '--ttl', '0'],
    ['forq'],
    ['changes', 'b', '--after', '-1x'],
    ['up', '--port', '70000'],
    ['extend', 'b'],
    ['extend', 'b', '--ttl', 'keep'],
    ['fork', 'b', '--access', 'all'],
    ['diff', 'b', '--only', 'shop'],
  ]) {
    const result = await forkyard([...argv, '--json']);
    expect(result, argv.join(' ')).toMatchObject({ code: 2, out: '' });
    expect(JSON.parse(result.err)).toHaveProperty('error.message');
  }
  expect(asked).toEqual([]);
});

test('documents come out as exact Extended JSON, in their order, with every name', async () => {
  const document =
    '{"_id":"p1","b":{"$numberInt":"1"},"2":{"$numberInt":"2"},"1":{"$numberDouble":"1.0"},"__proto__":{"x":{"$numberLong":"9007199254740993"}}}';
  const change: Change = {
    seq: 1,
    time: '2026-01-01T00:00:00.000Z',
    op: 'insert',
    ns: 'a.b',
    id: bson('"p1"'),
    after: bson(document),
  };
  answers['changes.page'] = () => ({ changes: [change], last: 1, complete: true });
  expect((await forkyard(['changes', 'b'])).out).toBe(
    `{"seq":1,"time":"2026-01-01T00:00:00.000Z","op":"insert","ns":"a.b","id":"p1","after":${document}}\n`,
  );
});

test('changes go on page by page up to the limit, with and without --json', async () => {
  const all = Array.from({ length: 2500 }, (_, at): Change => ({ seq: at + 1, time: 't', op: 'insert' }));
  answers['changes.page'] = ({ after, limit }: { after: number; limit: number }) => ({
    changes: all.slice(after, after + limit),
    last: 2500,
    complete: true,
  });
  const seqs = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as Change).seq);
  expect(seqs((await forkyard(['changes', 'b'])).out)).toHaveLength(2500);
  expect(seqs((await forkyard(['changes', 'b', '--after', '10', '--limit', '2', '--json'])).out)).toEqual([11, 12]);
});

test('a follower prints what comes until it is interrupted, and that is no failure', async () => {
  const abort = new AbortController();
  answers['changes.page'] = ({ after, waitMs }: { after: number; waitMs?: number }, signal: AbortSignal) => {
    if (waitMs === undefined) return { changes: [{ seq: 1, time: 't', op: 'insert' }], last: 1, complete: true };
    if (after === 1) return { changes: [{ seq: 2, time: 't', op: 'delete' }], last: 2, complete: true };
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new ForkyardError('aborted', 'Given up.')));
      abort.abort();
    });
  };
  const result = await forkyard(['changes', 'b', '--follow'], abort.signal);
  expect(result.code).toBe(0);
  expect(result.out).toBe('{"seq":1,"time":"t","op":"insert"}\n{"seq":2,"time":"t","op":"delete"}\n');
});

test('a diff keeps its shape: sides that do not exist are left out', async () => {
  answers['diff.get'] = () => ({
    branch: 'b',
    parent: 'main',
    complete: true,
    gaps: [],
    summary: [{ ns: 'shop.products', added: 0, modified: 1, removed: 1, conflicts: 1 }],
    schema: [
      {
        type: 'index',
        kind: 'added',
        ns: 'shop.products',
        name: 'price_1',
        branch: bson('{"price":1}'),
        conflict: false,
      },
    ],
    documents: [
      {
        ns: 'shop.products',
        id: bson('"p2"'),
        kind: 'modified',
        conflict: true,
        fields: [{ path: ['price'], base: bson('89'), parent: bson('85'), branch: bson('80.0'), class: 'divergent' }],
      },
      {
        ns: 'shop.products',
        id: bson('"p3"'),
        kind: 'removed',
        conflict: false,
        fields: [{ path: [], base: bson('{"price":19}'), class: 'clean' }],
      },
    ],
    comparedAt: 't',
  });
  const { documents, schema } = JSON.parse((await forkyard(['diff', 'b', '--json'])).out);
  expect(documents).toEqual([
    {
      ns: 'shop.products',
      id: 'p2',
      kind: 'modified',
      conflict: true,
      fields: [
        {
          path: ['price'],
          base: { $numberInt: '89' },
          parent: { $numberInt: '85' },
          branch: { $numberDouble: '80.0' },
          class: 'divergent',
        },
      ],
    },
    {
      ns: 'shop.products',
      id: 'p3',
      kind: 'removed',
      conflict: false,
      fields: [{ path: [], base: { price: { $numberInt: '19' } }, class: 'clean' }],
    },
  ]);
  expect(schema).toEqual([
    {
      type: 'index',
      kind: 'added',
      ns: 'shop.products',
      name: 'price_1',
      branch: { price: { $numberInt: '1' } },
      conflict: false,
    },
  ]);
  const text = (await forkyard(['diff', 'b'])).out;
  expect(text).toContain('b against main: 2 documents in 1 collection, 1 schema change, 1 conflict');
  expect(text).toContain('price  89 → 80.0 (Int32 → Double)  in b; 85 in main');
});

test('an import with problems prints its result and exits 1', async () => {
  answers['transfer.import'] = () => ({
    collections: [{ ns: 'a.b', documents: 2 }],
    problems: [{ ns: 'a.b', line: 3, id: bson('1'), message: 'duplicate _id' }],
  });
  const result = await forkyard(['import', 'sample:three', '--json']);
  expect(result.code).toBe(1);
  expect(JSON.parse(result.out)).toEqual({
    collections: [{ ns: 'a.b', documents: 2 }],
    problems: [{ ns: 'a.b', line: 3, id: { $numberInt: '1' }, message: 'duplicate _id' }],
  });
  expect((await forkyard(['import', 'sample:three'])).out).toContain('! a.b line 3 1: duplicate _id');
});

test('selections and decisions reach the engine', async () => {
  answers['plan.create'] = () => ({ plan: 'p', items: 1, conflicts: 0, checks: [], parent: 'main' });
  const result = await forkyard(['plan', 'b', '--only', 'a.b:"p1":/x/0', '--take', 'a.b:"p1"=main', '--json']);
  expect(result.out).toBe('{"plan":"p","items":1,"conflicts":0,"checks":[]}\n');
  expect(asked.at(-1)?.input).toEqual({
    branch: 'b',
    only: [{ ns: 'a.b', id: bson('"p1"'), path: ['x', '0'] }],
    take: [{ target: { ns: 'a.b', id: bson('"p1"') }, take: { side: 'main' } }],
  });
});

test('up on a running engine turns the web on and answers', async () => {
  const answer = { url: 'http://127.0.0.1:7/#token=x', pid: 1, data };
  answers['engine.web'] = () => answer;
  const { code, out } = await forkyard(['up', '--json', '--port', '7']);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual(answer);
  expect(asked.at(-1)).toEqual({ method: 'engine.web', input: { port: 7 } });
});

test('down stops the engine and waits for its end, and says so where none runs', async () => {
  answers['engine.stop'] = () => {
    rmSync(pointerFile(data));
    setImmediate(() => server.emit('end-all'));
    return { stopped: true };
  };
  server.on('connection', (connection) => server.once('end-all', () => connection.end()));
  expect(await forkyard(['down', '--json'])).toEqual({ code: 0, out: '{"stopped":true}\n', err: '' });
  expect(await forkyard(['down', '--json'])).toEqual({ code: 0, out: '{"stopped":false}\n', err: '' });
});

test('help is printed on stdout, for a command too', async () => {
  for (const argv of [['--help'], ['help', 'fork'], ['fork', '--help'], ['help', '--json'], ['-h', '--json']]) {
    const printed = { out: '' };
    const code = await main(argv, {
      out: { write: (text) => (printed.out += text) },
      err: { write: () => {} },
      stdin: Readable.from([]),
      env: {},
      signal: new AbortController().signal,
    });
    expect(code).toBe(0);
    expect(printed.out).toContain('fork NAME');
  }
});

test('verify exits 0 where all is recorded, and 1 with the documents by name where not', async () => {
  const right = {
    ...{ branch: 'b', parent: 'main', exact: true, parentExact: true, differences: { count: 0, first: [] } },
    ...{ unverified: [], collections: 2, documents: 5, bytes: 1_000, seconds: 0.1, mbPerSecond: 0.1 },
  };
  answers['branches.verify'] = () => right;
  const quiet = await forkyard(['verify', 'b', '--json']);
  expect({ code: quiet.code, answer: JSON.parse(quiet.out) as unknown }).toEqual({ code: 0, answer: right });
  const first = [{ branch: 'b', ns: 'shop.products', id: bson('"p1"'), kind: 'missing' }];
  answers['branches.verify'] = () => ({ ...right, exact: false, differences: { count: 3, first } });
  const found = await forkyard(['verify', 'b', '--limit', '1', '--json']);
  expect(asked.at(-1)?.input).toMatchObject({ branch: 'b', limit: 1 });
  expect(found.code).toBe(1);
  expect((JSON.parse(found.out) as typeof right).differences).toEqual({ count: 3, first: [{ ...first[0], id: 'p1' }] });
  const { out } = await forkyard(['verify', 'b', '--limit', '1']);
  expect(out).toContain('missing in b: shop.products "p1"');
  expect(out).toContain('and 2 more');
  answers['branches.verify'] = () => ({ ...right, parentExact: false });
  expect((await forkyard(['verify', 'b'])).code).toBe(1);
  answers['branches.verify'] = () => ({ ...right, exact: false, unverified: [{ ns: 'a.b', reason: 'It is gone.' }] });
  expect(await forkyard(['verify', 'b'])).toMatchObject({ code: 1, out: expect.stringContaining('a.b: It is gone.') });
});
