import { BSON } from 'bson';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { Event, LogEntry } from '../api.ts';
import { documentBytes, documentValue, fromBase64, toBase64 } from '../bson/value.ts';
import { ForkyardError } from '../errors.ts';
import { connect } from './connect.ts';
import { EventRing } from './event-ring.ts';
import { memoryPair } from './memory.ts';
import { messagePortTransport } from './message-port.ts';
import { serve } from './serve.ts';
import type { Callable } from './serve.ts';
import type { Transport } from './transport.ts';

const patience = { timeout: 30_000 };

const entry = (text: string): LogEntry => ({
  entry: text,
  time: '2026-01-01T00:00:00Z',
  kind: 'fork',
  branch: 'a',
  text,
  undoable: false,
});
const event = (text: string): Event => ({ type: 'log', entry: entry(text) });
const texts = (events: readonly Event[]): string[] =>
  events.map((each) => (each.type === 'log' ? each.entry.text : ''));

function engineOf(answer: (method: string, input: unknown, signal: AbortSignal) => unknown): Callable {
  return { call: async (method, input, { signal }) => (await answer(method, input, signal)) as never };
}

function wired(engine: Callable, events = new EventRing(1000, 0)) {
  const [client, server] = memoryPair();
  const onBug = vi.fn();
  serve(server, { engine, events, onBug });
  return { client: connect(client), raw: client, server, events, onBug };
}

test('a call gets its own answer, whatever the order the answers come in', async () => {
  const release: (() => void)[] = [];
  const { client } = wired(
    engineOf((_method, input) => new Promise((resolve) => release.push(() => resolve([input])))),
  );
  const calls = ['a', 'b', 'c'].map((branch) => client.call('log.list', { branch }));
  await vi.waitFor(() => expect(release).toHaveLength(3), patience);
  for (const go of release.reverse()) go();
  expect(await Promise.all(calls)).toEqual([[{ branch: 'a' }], [{ branch: 'b' }], [{ branch: 'c' }]]);
});

test('an expected failure arrives as it was thrown', async () => {
  const thrown = new ForkyardError('plan_stale', 'The plan is stale.', {
    hint: 'Plan again.',
    details: { moved: [{ ns: 'a.b' }] },
  });
  const { client, onBug } = wired(engineOf(() => Promise.reject(thrown)));
  const error = await client.call('plan.apply', { plan: 'p' }).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ForkyardError);
  expect((error as ForkyardError).toBody()).toEqual(thrown.toBody());
  expect(onBug).not.toHaveBeenCalled();
});

test('a bug arrives as internal, without secrets, and is told to the log', async () => {
  const { client, onBug } = wired(engineOf(() => Promise.reject(new Error('at mongodb://me:secret@127.0.0.1/'))));
  const error = await client.call('engine.status', {}).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: 'internal' });
  expect(String(error)).not.toContain('secret');
  expect(onBug).toHaveBeenCalledOnce();
});

test('an answer that is no JSON is a bug of the engine, not of the connection', async () => {
  const { client } = wired(engineOf((method) => (method === 'log.list' ? [1n] : { stopped: true })));
  await expect(client.call('log.list', {})).rejects.toMatchObject({ code: 'internal' });
  expect(await client.call('engine.stop', {})).toEqual({ stopped: true });
});

test('input that does not fit is refused before the engine sees it', async () => {
  const call = vi.fn();
  const { client } = wired({ call });
  await expect(client.call('branches.fork', { name: 7 } as never)).rejects.toMatchObject({ code: 'usage' });
  await expect(client.call('constructor' as never, {} as never)).rejects.toMatchObject({ code: 'usage' });
  await expect(client.call('__proto__' as never, {} as never)).rejects.toMatchObject({ code: 'usage' });
  expect(call).not.toHaveBeenCalled();
});

test('an aborted call ends at once on both sides', async () => {
  let seen: AbortSignal | undefined;
  const { client } = wired(
    engineOf((_method, _input, signal) => {
      seen = signal;
      return new Promise(() => {});
    }),
  );
  const abort = new AbortController();
  const call = client.call('branches.list', {}, { signal: abort.signal });
  await vi.waitFor(() => expect(seen).toBeDefined(), patience);
  abort.abort();
  await expect(call).rejects.toMatchObject({ code: 'aborted' });
  await vi.waitFor(() => expect(seen?.aborted).toBe(true), patience);
});

test('when the connection ends, what runs is aborted and what waits is told', async () => {
  let seen: AbortSignal | undefined;
  const { client, server } = wired(
    engineOf((_method, _input, signal) => {
      seen = signal;
      return new Promise(() => {});
    }),
  );
  const call = client.call('branches.list', {});
  await vi.waitFor(() => expect(seen).toBeDefined(), patience);
  server.close();
  await expect(call).rejects.toMatchObject({ code: 'engine_unreachable', retry: true });
  await client.closed;
  expect(seen?.aborted).toBe(true);
  await expect(client.call('branches.list', {})).rejects.toMatchObject({ code: 'engine_unreachable' });
});

test('a client that comes back gets what it missed', async () => {
  const events = new EventRing(3, 100);
  const first = wired(
    engineOf(() => []),
    events,
  );
  const seen: [string, number][] = [];
  const { last, gap } = await first.client.subscribe((told, number) => seen.push([texts([told])[0] ?? '', number]));
  expect({ last, gap }).toEqual({ last: 100, gap: false });
  events.push(event('one'));
  await vi.waitFor(() => expect(seen).toEqual([['one', 101]]), patience);
  first.client.close();

  events.push(event('two'));
  events.push(event('three'));
  const second = wired(
    engineOf(() => []),
    events,
  );
  const again: Event[] = [];
  expect(await second.client.subscribe((told) => again.push(told), 101)).toEqual({ last: 103, gap: false });
  await vi.waitFor(() => expect(texts(again)).toEqual(['two', 'three']), patience);
});

test('a client that was away too long, or comes from an earlier engine, is told of the gap', async () => {
  const events = new EventRing(2, 100);
  for (const text of ['one', 'two', 'three']) events.push(event(text));
  expect(events.since(101)).toMatchObject({ gap: false });
  expect(events.since(100)).toMatchObject({ gap: true });
  expect(events.since(999)).toMatchObject({ gap: true, events: [] });
});

test('frames cross a MessagePort in order', async () => {
  const { port1, port2 } = new MessageChannel();
  serve(messagePortTransport(port1), { engine: engineOf((_method, input) => input), events: new EventRing() });
  const client = connect(messagePortTransport(port2));
  const answers = await Promise.all(['a', 'b'].map((branch) => client.call('log.list', { branch })));
  expect(answers).toEqual([{ branch: 'a' }, { branch: 'b' }]);
  client.close();
  await client.closed;
});

test('EL-01: a document with every BSON type crosses a MessagePort and comes back with the same bytes', async () => {
  const document = BSON.serialize({
    _id: new BSON.ObjectId('65a1b2c3d4e5f60718293a4b'),
    int: new BSON.Int32(5),
    long: BSON.Long.fromString('9007199254740993'),
    double: new BSON.Double(-0),
    decimal: BSON.Decimal128.fromString('5.00'),
    text: 'é 测试',
    object: { 2: 'b', 10: 'a', __proto__x: null },
    array: [true, null, new BSON.MinKey(), new BSON.MaxKey()],
    binary: new BSON.Binary(new Uint8Array([1, 2, 3]), 3),
    date: new Date(-1),
    regex: new BSON.BSONRegExp('^a', 'i'),
    code: new BSON.Code('f()', { a: 1 }),
    time: new BSON.Timestamp({ t: 7, i: 1 }),
    symbol: new BSON.BSONSymbol('s'),
  });
  const { port1, port2 } = new MessageChannel();
  const target = (input: unknown) => (input as { only: { id: string }[] }).only[0]!.id;
  const engine = engineOf((_method, input) => ({
    change: undefined,
    base: target(input),
    writes: { count: 0, actors: [] },
  }));
  serve(messagePortTransport(port1), { engine, events: new EventRing() });
  const client = connect(messagePortTransport(port2));
  const id = toBase64(documentValue(document));
  const answer = await client.call('plan.adopt', { branch: 'b', only: [{ ns: 'a.b', id }] });
  expect(documentBytes(fromBase64((answer as unknown as { base: string }).base))).toEqual(new Uint8Array(document));
  client.close();
  await client.closed;
});

test('no text whatever stops the server; what is no frame ends that connection alone', async () => {
  const events = new EventRing();
  const engine = engineOf((_method, input) => [input]);
  const frameLike = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record(
        {
          id: fc.anything(),
          method: fc.oneof(fc.string(), fc.constantFrom('log.list', 'diff.get', '__proto__')),
          input: fc.anything(),
          abort: fc.anything(),
          subscribe: fc.anything(),
        },
        { requiredKeys: [] },
      )
      .map((frame) => {
        try {
          return JSON.stringify(frame) ?? '';
        } catch {
          return '{';
        }
      }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(frameLike, { maxLength: 20 }), async (frames) => {
      const { raw } = wired(engine, events);
      for (const frame of frames) raw.send(frame);
      const { client } = wired(engine, events);
      expect(await client.call('log.list', { branch: 'still here' })).toEqual([{ branch: 'still here' }]);
      raw.close();
      client.close();
    }),
    { numRuns: 300 },
  );
});

test('a transport that has closed swallows what is sent', () => {
  const [left, right]: [Transport, Transport] = memoryPair();
  const told = vi.fn();
  right.onClose(told);
  left.close();
  left.close();
  left.send('x');
  expect(told).toHaveBeenCalledOnce();
  const late = vi.fn();
  right.onClose(late);
  expect(late).toHaveBeenCalledOnce();
});
