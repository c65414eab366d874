/** How long to wait before an engine that ended by itself is started again. */
export interface Backoff {
  /** Milliseconds until the next start, after one that lived for `livedMs`. */
  next(livedMs: number): number;
}

const firstMs = 250;
const longestMs = 30_000;
/** One that lived this long was well: the next failure is a new one. */
const wellMs = 60_000;

export function backoff(): Backoff {
  let delay = firstMs;
  return {
    next(livedMs) {
      if (livedMs >= wellMs) delay = firstMs;
      const now = delay;
      delay = Math.min(delay * 2, longestMs);
      return now;
    },
  };
}
