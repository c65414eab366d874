import { statfs } from 'node:fs/promises';
import { ForkyardError } from '../../../shared/errors.ts';

const lookEveryMs = 1_000;
/** A look that is this young is taken for now, milliseconds. */
const freshMs = 100;
/** It is over once so much more than the reserve is free: what is on the edge would go on and off. */
const edge = 1.1;

/** What helps where the disk is short and the data stays where it is. */
export const roomHint = 'Discard a sandbox you no longer need, or make room on the disk.';

export interface DiskSpaceOptions {
  /** A folder on the disk. */
  readonly folder: string;
  /** How much of the disk is left alone, bytes: a server that meets a full disk ends. */
  readonly reserveBytes: () => number;
  readonly log: (line: string) => void;
}

/** What is done when the disk gets short, and told when that changes. */
export interface DiskWatch {
  readonly makeRoom: () => Promise<void>;
  readonly onChange: () => void;
}

/** The disk that everything lies on: before it is full, what would fill it waits or is refused. */
export class DiskSpace {
  private readonly options: DiskSpaceOptions;
  private watcher: DiskWatch | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly waiting = new Set<() => void>();
  private looked = -Infinity;
  private short = false;
  private stopped = false;

  constructor(options: DiskSpaceOptions) {
    this.options = options;
  }

  /** Less than the reserve was free at the last look. */
  get isShort(): boolean {
    return this.short;
  }

  /** Looks every second from now on. */
  watch(watcher: DiskWatch): void {
    this.watcher = watcher;
    this.timer = setInterval(() => void this.look().catch(() => undefined), lookEveryMs);
    this.timer.unref();
  }

  /** Lets go of all who wait for room. */
  stop(): void {
    this.stopped = true;
    clearInterval(this.timer);
    this.letGo();
  }

  /** Looks at the disk now. @returns free bytes beyond the reserve; below zero where the disk is short */
  async look(): Promise<number> {
    const reserve = this.options.reserveBytes();
    let left = (await freeBytes(this.options.folder)) - reserve;
    if (left < 0 && !this.short && this.watcher) {
      await this.watcher.makeRoom().catch((error: unknown) => this.options.log(`making room: ${String(error)}`));
      left = (await freeBytes(this.options.folder)) - reserve;
    }
    this.looked = performance.now();
    const short = left < (this.short ? reserve * (edge - 1) : 0);
    if (short !== this.short) {
      this.short = short;
      this.options.log(short ? 'the disk is nearly full: nothing more is recorded' : 'the disk has room again');
      if (!short) this.letGo();
      this.watcher?.onChange();
    }
    return left;
  }

  /**
   * Resolves at once where the disk has room, else when it has room again, is no longer looked at, or `signal` is aborted.
   * @param onWait told where it has to wait
   */
  async room(signal: AbortSignal, onWait?: () => void): Promise<void> {
    // A disk that cannot be looked at is not taken for a full one.
    if (performance.now() - this.looked > freshMs) await this.look().catch(() => undefined);
    if (!this.short || this.stopped || signal.aborted) return;
    onWait?.();
    await new Promise<void>((resolve) => {
      const done = () => {
        this.waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.waiting.add(done);
      signal.addEventListener('abort', done);
    });
  }

  /**
   * Refuses what would not fit beside the reserve, before it begins.
   * @param what as in "for this adoption"
   * @throws ForkyardError `no_space` with both numbers
   */
  async require(what: string, neededBytes: number): Promise<void> {
    const left = await this.look();
    if (left >= neededBytes && !this.short) return;
    throw noSpace(what, neededBytes, Math.max(0, left), left + this.options.reserveBytes());
  }

  private letGo(): void {
    for (const done of [...this.waiting]) done();
  }
}

/**
 * Refuses before anything is copied where the copy would not fit, leaving `reserve` bytes free.
 * @throws ForkyardError `no_space` with both numbers
 */
export async function requireSpace(
  folder: string,
  neededBytes: number,
  reserveBytes = 64 * 1024 * 1024,
): Promise<void> {
  const free = await freeBytes(folder);
  if (free - reserveBytes >= neededBytes) return;
  throw noSpace('this fork', neededBytes, Math.max(0, free - reserveBytes), free);
}

/** What an ordinary user may still write there, bytes. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function noSpace(what: string, neededBytes: number, leftBytes: number, freeBytes: number): ForkyardError {
  return new ForkyardError(
    'no_space',
    `There is not enough disk space for ${what}: it needs ${megabytes(neededBytes)}, and ${megabytes(leftBytes)} are free.`,
    {
      hint: 'Discard a sandbox you no longer need, or move the data folder with --data.',
      details: { neededBytes, freeBytes },
    },
  );
}

function megabytes(bytes: number): string {
  return bytes < 10_000_000
    ? `${(bytes / 1_000_000).toFixed(1)} MB`
    : `${Math.round(bytes / 1_000_000).toLocaleString('en')} MB`;
}
