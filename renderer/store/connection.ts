import type { Input, Method, Output } from '../../shared/api.ts';
import { errorBody, ForkyardError } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { connect } from '../../shared/rpc/connect.ts';
import type { Client, EventListener } from '../../shared/rpc/connect.ts';
import type { OpenTransport } from './transport.ts';
import { inWindowWords } from './window-words.ts';

export type ConnectionState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open' }
  /** The engine has gone; it is being asked for again. */
  | { readonly kind: 'lost' }
  /** It could not start, or will not have this page: somebody has to do something first. */
  | { readonly kind: 'refused'; readonly error: ErrorBody };

interface Hooks {
  readonly onState: (state: ConnectionState) => void;
  readonly onEvent: EventListener;
  /**
   * After each opening. `gap` says that events were lost since the last connection (the first one counts as such): what
   * is shown must be asked for again.
   */
  readonly onOpen: (gap: boolean) => void;
}

export interface Connection {
  /** Calls the engine, waiting for the connection where there is none at the moment. */
  call<M extends Method>(method: M, input: Input<M>, options?: { readonly signal?: AbortSignal }): Promise<Output<M>>;
  /** Tries again after the connection was refused. */
  retry(): void;
  close(): void;
}

const firstDelayMs = 200;
const longestDelayMs = 5_000;

/** Keeps a connection to the engine: reopens it with growing pauses and resumes events behind the last one seen. */
export function keepConnected(open: OpenTransport, hooks: Hooks): Connection {
  let client: Client | undefined;
  let refused: ForkyardError | undefined;
  let waiting: (() => void)[] = [];
  let lastEvent: number | undefined;
  let stopped = false;

  const settle = (): void => {
    for (const wake of waiting) wake();
    waiting = [];
  };

  const session = async (): Promise<void> => {
    const next = connect(await open(), inWindowWords);
    const listener: EventListener = (event, number) => {
      lastEvent = number;
      hooks.onEvent(event, number);
    };
    const { last, gap } = await next.subscribe(listener, lastEvent);
    const missed = gap || lastEvent === undefined;
    if (missed) lastEvent = last;
    client = next;
    hooks.onState({ kind: 'open' });
    hooks.onOpen(missed);
    settle();
    await next.closed;
    client = undefined;
  };

  const run = async (): Promise<void> => {
    let delayMs = firstDelayMs;
    while (!stopped) {
      try {
        await session();
        delayMs = firstDelayMs;
      } catch (error) {
        if (error instanceof ForkyardError && error.code !== 'engine_unreachable') {
          refused = error;
          hooks.onState({ kind: 'refused', error: errorBody(error) });
          settle();
          return;
        }
      }
      if (isStopped()) return;
      hooks.onState({ kind: 'lost' });
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      delayMs = Math.min(delayMs * 2, longestDelayMs);
    }
  };
  const isStopped = (): boolean => stopped;

  hooks.onState({ kind: 'connecting' });
  void run();

  return {
    async call(method, input, options = {}) {
      while (client === undefined) {
        if (refused !== undefined) throw refused;
        if (options.signal?.aborted === true) throw new ForkyardError('aborted', 'The call was given up.');
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          options.signal?.addEventListener('abort', () => resolve(), { once: true });
        });
      }
      return client.call(method, input, options);
    },
    retry() {
      if (refused === undefined) return;
      refused = undefined;
      hooks.onState({ kind: 'connecting' });
      void run();
    },
    close() {
      stopped = true;
      client?.close();
    },
  };
}
