import type { ClientFrame, Event, Input, Method, Output, ServerFrame } from '../api.ts';
import { exitCodes, ForkyardError } from '../errors.ts';
import type { ErrorBody, ErrorCode } from '../errors.ts';
import type { Transport } from './transport.ts';

export type EventListener = (event: Event, number: number) => void;

export interface Client {
  /**
   * Calls a method. Rejects with the engine's ForkyardError; with `aborted` as soon as `signal` is; with
   * `engine_unreachable` when the connection ends first.
   */
  call<M extends Method>(method: M, input: Input<M>, options?: { readonly signal?: AbortSignal }): Promise<Output<M>>;
  /**
   * Starts events, once for a connection; a second call replaces the listener. `after` is the last number an earlier
   * connection saw: what came since is told first. `gap` says that some of it is lost: ask for everything again.
   */
  subscribe(listener: EventListener, after?: number): Promise<{ last: number; gap: boolean }>;
  /** Settled when the connection has ended, whoever ended it. Never rejects. */
  readonly closed: Promise<void>;
  close(): void;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: ForkyardError) => void;
}

/**
 * The caller's side of a transport. It trusts what the engine sends: replies are typed, not parsed again, so that a
 * client need not load the schemas.
 * @param words what becomes of an error before it is told, e.g. in the words of a window
 */
export function connect(transport: Transport, words: (error: ErrorBody) => ErrorBody = (error) => error): Client {
  const pending = new Map<number, Pending>();
  const subscribing: Pending[] = [];
  let listener: EventListener | undefined;
  let open = true;
  let nextId = 1;

  const send = (frame: ClientFrame): void => transport.send(JSON.stringify(frame));
  const closed = new Promise<void>((resolve) => {
    transport.onClose(() => {
      open = false;
      for (const { reject } of [...pending.values(), ...subscribing]) reject(unreachable());
      pending.clear();
      subscribing.length = 0;
      resolve();
    });
  });
  transport.onMessage((text) => {
    const frame = JSON.parse(text) as ServerFrame;
    if ('event' in frame) listener?.(frame.data, frame.event);
    else if ('subscribed' in frame) subscribing.shift()?.resolve({ last: frame.subscribed, gap: frame.gap });
    else {
      const waiting = pending.get(frame.id);
      pending.delete(frame.id);
      if ('error' in frame) waiting?.reject(ForkyardError.from(words(knownError(frame.error))));
      else waiting?.resolve(frame.value);
    }
  });

  const call: Client['call'] = (method, input, { signal } = {}) =>
    new Promise((resolve, reject) => {
      if (!open) return reject(unreachable());
      if (signal?.aborted === true) return reject(aborted());
      const id = nextId++;
      const onAbort = (): void => {
        pending.delete(id);
        send({ abort: id });
        reject(aborted());
      };
      const done =
        <T>(settle: (value: T) => void) =>
        (value: T): void => {
          signal?.removeEventListener('abort', onAbort);
          settle(value);
        };
      signal?.addEventListener('abort', onAbort, { once: true });
      pending.set(id, { resolve: done((value) => resolve(value as Output<typeof method>)), reject: done(reject) });
      send({ id, method, input });
    });

  return {
    call,
    subscribe: (next, after) =>
      new Promise((resolve, reject) => {
        if (!open) return reject(unreachable());
        listener = next;
        subscribing.push({ resolve: (value) => resolve(value as { last: number; gap: boolean }), reject });
        send({ subscribe: after === undefined ? {} : { after } });
      }),
    closed,
    close: () => transport.close(),
  };
}

/** A newer engine may know codes that this client does not. */
function knownError(error: Omit<ErrorBody, 'code'> & { code: string }): ErrorBody {
  const known = Object.prototype.hasOwnProperty.call(exitCodes, error.code);
  return { ...error, code: known ? (error.code as ErrorCode) : 'internal' };
}

function unreachable(): ForkyardError {
  return new ForkyardError('engine_unreachable', 'The connection to the Forkyard engine has ended.', {
    hint: 'Try again: the engine is started where none runs.',
    retry: true,
  });
}

function aborted(): ForkyardError {
  return new ForkyardError('aborted', 'The call was given up before its answer came.');
}
