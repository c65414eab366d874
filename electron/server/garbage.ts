import { PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** So much may gather in any case (docs/decisions/memory.md). */
const growthBytes = 40 * 1024 * 1024;
/** And so much of what is held without it: a collection costs time by what lives, so the more that is the rarer they come. */
const growthShare = 2 / 3;

/** Tells when what is held has grown by so many bytes since it was least, and by a share of that. */
export class Growth {
  private readonly bytes: number;
  private readonly share: number;
  private least = Number.POSITIVE_INFINITY;

  constructor(bytes: number, share: number) {
    this.bytes = bytes;
    this.share = share;
  }

  /** @param held bytes @returns whether it is time to collect; what is held after that goes to {@link collected} */
  exceeds(held: number): boolean {
    this.least = Math.min(this.least, held);
    return held - this.least > Math.max(this.bytes, this.least * this.share);
  }

  collected(held: number): void {
    this.least = held;
  }
}

/**
 * Has V8 collect the old generation before it would by itself: replies of servers lie outside of its heap, where it lets
 * 64 MB gather. Looks only when the young generation was collected, so a process that does nothing is left alone.
 */
export function collectEarly(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('typeof gc === "function" ? gc : undefined') as (() => void) | undefined;
  if (!collect) return;
  const growth = new Growth(growthBytes, growthShare);
  const held = () => {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  new PerformanceObserver(() => {
    if (!growth.exceeds(held())) return;
    collect();
    growth.collected(held());
  }).observe({ entryTypes: ['gc'] });
}
