import { PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** So much may gather (docs/decisions/memory.md). */
const growthBytes = 40 * 1024 * 1024;

/** Tells when what is held has grown by so much since it was least. */
export class Growth {
  private readonly limit: number;
  private least = Number.POSITIVE_INFINITY;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** @param held bytes @returns whether it is time to collect; what is held after that goes to {@link collected} */
  exceeds(held: number): boolean {
    this.least = Math.min(this.least, held);
    return held - this.least > this.limit;
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
  const growth = new Growth(growthBytes);
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
