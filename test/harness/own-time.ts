const tickMs = 5;

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/**
 * How long this process did not run although it wanted to: the machine stood still, or gave its time to others. What is
 * measured from here is not to blame for that.
 */
export class Stalls {
  private lateMs = 0;
  private lastTick = performance.now();
  private lastCpu = cpuMs();
  private readonly ticker = setInterval(() => this.tick(), tickMs);

  private tick(): void {
    const now = performance.now();
    const cpu = cpuMs();
    // Time in which it computed is its own.
    this.lateMs += Math.max(0, now - this.lastTick - 2 * tickMs - (cpu - this.lastCpu));
    this.lastTick = now;
    this.lastCpu = cpu;
  }

  /** Milliseconds since the last call. */
  take(): number {
    this.tick();
    const late = this.lateMs;
    this.lateMs = 0;
    return late;
  }

  /** Milliseconds so far. */
  get ms(): number {
    this.tick();
    return this.lateMs;
  }

  stop(): void {
    clearInterval(this.ticker);
  }
}

/** How long work takes until it ends, however it ends, without the time in which this process did not run; milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const stalls = new Stalls();
  const from = performance.now();
  try {
    await work();
    return performance.now() - from - stalls.ms;
  } finally {
    stalls.stop();
  }
}
