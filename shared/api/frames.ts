/** What goes over a transport. */
import { z } from 'zod';
import { BranchRow } from './branches.ts';
import { LogEntry } from './plans.ts';
import { Time } from './values.ts';

/**
 * What the engine tells unasked. Each event has a number; a client that reconnects passes the last one it saw.
 * They say *that* something changed; the client asks for what it shows.
 */
export const Event = z.discriminatedUnion('type', [
  /** The branch list changed: forked, state, counts, expiry. The whole list, small by nature. */
  z.object({ type: z.literal('branches'), branches: z.array(BranchRow) }),
  /** The log grew. */
  z.object({ type: z.literal('log'), entry: LogEntry }),
  z.object({
    type: z.literal('progress'),
    job: z.string(),
    text: z.string(),
    done: z.number().optional(),
    total: z.number().optional(),
  }),
  /** A sandbox will expire soon, or has. */
  z.object({ type: z.literal('expiry'), branch: z.string(), state: z.enum(['soon', 'expired', 'gone']), at: Time }),
]);
export type Event = z.infer<typeof Event>;

/** Frames on a transport, one JSON text each. */
export const ClientFrame = z.union([
  z.object({ id: z.number().int(), method: z.string(), input: z.unknown() }),
  z.object({ abort: z.number().int() }),
  /** Starts events; `after` resumes behind the last number seen. */
  z.object({ subscribe: z.object({ after: z.number().int().optional() }) }),
]);
export type ClientFrame = z.infer<typeof ClientFrame>;

const ErrorFrame = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  retry: z.boolean(),
  details: z.record(z.string(), z.unknown()).optional(),
});
export const ServerFrame = z.union([
  z.object({ id: z.number().int(), ok: z.literal(true), value: z.unknown() }),
  z.object({ id: z.number().int(), error: ErrorFrame }),
  z.object({ event: z.number().int(), data: Event }),
  /** Answers `subscribe`: the newest number, and whether events after `after` were dropped from the ring. */
  z.object({ subscribed: z.number().int(), gap: z.boolean() }),
]);
export type ServerFrame = z.infer<typeof ServerFrame>;
