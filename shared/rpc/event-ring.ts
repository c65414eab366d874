import type { Event } from '../api.ts';

type Listener = (event: Event, number: number) => void;

/**
 * The last events of an engine, numbered, for all its connections. Numbers start at the engine's start time in
 * milliseconds, so a number from an earlier engine is always below the first of this one and shows up as a gap.
 */
export class EventRing {
  readonly #kept: { number: number; event: Event }[] = [];
  readonly #listeners = new Set<Listener>();
  readonly #capacity: number;
  #last: number;

  constructor(capacity = 1000, start = Date.now()) {
    this.#capacity = capacity;
    this.#last = start;
  }

  /** The newest number given out. */
  get last(): number {
    return this.#last;
  }

  push(event: Event): void {
    this.#last += 1;
    this.#kept.push({ number: this.#last, event });
    if (this.#kept.length > this.#capacity) this.#kept.shift();
    for (const listener of this.#listeners) listener(event, this.#last);
  }

  /** What came after `after`, oldest first; `gap` says that some of it is no longer kept. */
  since(after: number): { events: readonly { number: number; event: Event }[]; gap: boolean } {
    const oldest = this.#last - this.#kept.length;
    return { events: this.#kept.filter(({ number }) => number > after), gap: after < oldest || after > this.#last };
  }

  /** Calls `listener` for each event from now on; the returned function ends that. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
