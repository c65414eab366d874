/** What Electron's main process and the engine's utility process tell each other. */
import type { ErrorBody } from './errors.ts';

/**
 * The engine's side: ready to serve (`own` unless it relays to an engine that somebody else started and will end), or what kept it from starting; `stopped` before it ends because somebody asked.
 */
export type UtilityReport =
  { readonly ready: true; readonly own: boolean } | { readonly error: ErrorBody } | { readonly stopped: true };

/** The main process's side: `serve` carries a MessagePort. */
export type UtilityOrder = { readonly serve: true } | { readonly stop: true };
