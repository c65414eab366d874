import { describe, expect, it, vi } from 'vitest';
import { ForkyardError } from '../../shared/errors.ts';
import { EventRing } from '../../shared/rpc/event-ring.ts';
import { memoryPair } from '../../shared/rpc/memory.ts';
import { serve } from '../../shared/rpc/serve.ts';
import type { Callable } from '../../shared/rpc/serve.ts';
import type { Transport } from '../../shared/rpc/transport.ts';
import { keepConnected } from './connection.ts';
import type { ConnectionState } from './connection.ts';

/** An engine that can be taken down; it answers the log and nothing else. */
function engineInMemory() {
  const events = new EventRing();
  const engine: Callable = { call: () => Promise.resolve([] as never) };
  const open: Transport[] = [];
  const state = { down: false, refusal: undefined as ForkyardError | undefined };
  return {
    state,
    events,
    open: (): Promise<Transport> => {
      if (state.refusal !== undefined) return Promise.reject(state.refusal);
      if (state.down) return Promise.reject(new ForkyardError('engine_unreachable', 'down'));
      const [mine, theirs] = memoryPair();
      serve(theirs, { engine, events });
      open.push(theirs);
      return Promise.resolve(mine);
    },
    drop: () => {
      for (const transport of open.splice(0)) transport.close();
    },
  };
}

function watched(engine: ReturnType<typeof engineInMemory>) {
  const states: ConnectionState['kind'][] = [];
  const opened: boolean[] = [];
  const numbers: number[] = [];
  const connection = keepConnected(engine.open, {
    onState: ({ kind }) => states.push(kind),
    onOpen: (gap) => opened.push(gap),
    onEvent: (_, number) => numbers.push(number),
  });
  return { connection, states, opened, numbers };
}

const expiry = { type: 'expiry', branch: 'a', state: 'soon', at: '2026-11-29T12:00:00Z' } as const;

describe('a connection', () => {
  it('comes back after the engine was gone, and calls made meanwhile are answered', async () => {
    const engine = engineInMemory();
    const { connection, states } = watched(engine);
    await connection.call('log.list', {});
    engine.state.down = true;
    engine.drop();
    await vi.waitUntil(() => states.at(-1) === 'lost');
    const answer = connection.call('log.list', {});
    engine.state.down = false;
    expect(await answer).toEqual([]);
    expect(states).toEqual(['connecting', 'open', 'lost', 'open']);
    connection.close();
  });

  it('is told the events it missed, each once', async () => {
    const engine = engineInMemory();
    const { connection, states, numbers, opened } = watched(engine);
    await connection.call('log.list', {});
    engine.events.push(expiry);
    await vi.waitUntil(() => numbers.length === 1);
    engine.drop();
    await vi.waitUntil(() => states.at(-1) === 'lost');
    engine.events.push(expiry);
    await vi.waitUntil(() => numbers.length === 2);
    expect(numbers[1]).toBe(numbers[0]! + 1);
    expect(opened).toEqual([true, false]);
    connection.close();
  });

  it('stops where it is refused, until it is asked to try again', async () => {
    const engine = engineInMemory();
    engine.state.refusal = new ForkyardError('web_refused', 'no key');
    const { connection, states } = watched(engine);
    await expect(connection.call('log.list', {})).rejects.toMatchObject({ code: 'web_refused' });
    expect(states.at(-1)).toBe('refused');
    engine.state.refusal = undefined;
    connection.retry();
    expect(await connection.call('log.list', {})).toEqual([]);
    connection.close();
  });

  it('gives a call up that is aborted while it waits', async () => {
    const engine = engineInMemory();
    engine.state.down = true;
    const { connection } = watched(engine);
    const stop = new AbortController();
    const call = connection.call('log.list', {}, { signal: stop.signal });
    stop.abort();
    await expect(call).rejects.toMatchObject({ code: 'aborted' });
    connection.close();
  });
});
