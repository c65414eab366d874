/** What the engine offers its endpoints: one call and one stream of events, whoever asks. */
import type { Event, Method, Output, Parsed } from '../../../shared/api.ts';

export interface CallContext {
  /** Aborted when the caller gives up or its connection ends. */
  readonly signal: AbortSignal;
}

export interface Engine {
  /** Runs one method with already parsed input. Throws ForkyardError for expected failures. */
  call<M extends Method>(method: M, input: Parsed<M>, context: CallContext): Promise<Output<M>>;
  /** Subscribes to events; returns unsubscribe. */
  onEvent(listener: (event: Event) => void): () => void;
  /** Stops every server of the workspace and closes the catalog. Never called twice. */
  stop(): Promise<void>;
}

export interface EngineOptions {
  /** The data folder; it exists, and this process holds its lock. */
  readonly data: string;
  /** One line for the log, secrets already allowed: the log redacts. */
  readonly log: (line: string) => void;
  /** Turns the loopback web on; answers `engine.web`. Left out where this engine has no web. */
  readonly web?: (port?: number) => Promise<{ url: string }>;
  /** Ends the process once the reply to `engine.stop` is on its way. */
  readonly onStop?: () => void;
}
