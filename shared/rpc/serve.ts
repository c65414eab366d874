import type { z } from 'zod';
import { api, ClientFrame } from '../api.ts';
import type { Event, Method, Output, Parsed, ServerFrame } from '../api.ts';
import { errorBody, ForkyardError } from '../errors.ts';
import type { EventRing } from './event-ring.ts';
import type { Transport } from './transport.ts';

/** What can be called over a transport: the engine, or a stand-in for it. */
export interface Callable {
  call<M extends Method>(method: M, input: Parsed<M>, context: { readonly signal: AbortSignal }): Promise<Output<M>>;
}

interface ServeOptions {
  readonly engine: Callable;
  /** Shared by all connections of the engine. */
  readonly events: EventRing;
  /** Told of errors that are bugs; the caller gets `internal` without their stack. */
  readonly onBug?: (error: unknown) => void;
}

/**
 * Answers one connection until it closes; what is still running then is aborted. Each frame and each input is parsed
 * first: input that does not fit gets error `usage`, and a connection that sends something that is no frame is closed,
 * since nobody could be told which of its requests was lost.
 */
export function serve(transport: Transport, { engine, events, onBug }: ServeOptions): void {
  const running = new Map<number, AbortController>();
  let unsubscribe: (() => void) | undefined;

  const send = (frame: ServerFrame): void => transport.send(JSON.stringify(frame));

  const request = async (id: number, name: string, input: unknown): Promise<void> => {
    const abort = new AbortController();
    running.set(id, abort);
    let reply: string;
    try {
      const value = await dispatch(engine, name, input, abort.signal);
      reply = JSON.stringify({ id, ok: true, value } satisfies ServerFrame);
    } catch (error) {
      if (!(error instanceof ForkyardError)) onBug?.(error);
      reply = JSON.stringify({ id, error: frameError(error) } satisfies ServerFrame);
    }
    running.delete(id);
    transport.send(reply);
  };

  const subscribe = (after: number | undefined): void => {
    unsubscribe?.();
    const missed = after === undefined ? { events: [], gap: false } : events.since(after);
    const tell = (event: Event, number: number): void => send({ event: number, data: event });
    send({ subscribed: events.last, gap: missed.gap });
    for (const { event, number } of missed.events) tell(event, number);
    unsubscribe = events.listen(tell);
  };

  transport.onClose(() => {
    unsubscribe?.();
    for (const abort of running.values()) abort.abort();
  });
  transport.onMessage((text) => {
    const frame = parseFrame(text);
    if (frame === undefined) transport.close();
    else if ('abort' in frame) running.get(frame.abort)?.abort();
    else if ('subscribe' in frame) subscribe(frame.subscribe.after);
    else if (running.has(frame.id)) transport.close();
    else void request(frame.id, frame.method, frame.input);
  });
}

function parseFrame(text: string): ClientFrame | undefined {
  try {
    return ClientFrame.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

async function dispatch(engine: Callable, name: string, input: unknown, signal: AbortSignal): Promise<unknown> {
  if (!Object.prototype.hasOwnProperty.call(api, name)) {
    throw new ForkyardError('usage', `The engine has no method "${name.slice(0, 100)}".`, {
      hint: 'The app and the engine may be of different versions: stop the engine with `forkyard down` and start again.',
    });
  }
  const method = name as Method;
  const parsed = api[method].input.safeParse(input ?? {});
  if (!parsed.success) throw new ForkyardError('usage', `${method}: ${issueText(parsed.error)}`);
  return engine.call(method, parsed.data as Parsed<typeof method>, { signal });
}

/** The first thing wrong with an input, as one sentence. */
function issueText(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'the input does not fit.';
  const where = issue.path.length === 0 ? 'the input' : `"${issue.path.map(String).join('.')}"`;
  return `${where} does not fit: ${issue.message}.`;
}

/** Without the keys that are undefined, as the frame has it. */
function frameError(error: unknown): {
  code: string;
  message: string;
  hint?: string;
  retry: boolean;
  details?: Record<string, unknown>;
} {
  const { code, message, hint, retry, details } = errorBody(error);
  return {
    code,
    message,
    retry,
    ...(hint === undefined ? {} : { hint }),
    ...(details === undefined ? {} : { details: { ...details } }),
  };
}
