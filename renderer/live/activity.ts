import type { Change } from '../../shared/api.ts';
import { kindOf } from './kinds.ts';

/** The shortest time that is counted apart, milliseconds. */
export const stepMs = 250;
/** Counts reach back this far. */
export const longestMs = 20 * 60_000;

/** What happened in one stretch of time. */
export interface Bar {
  readonly added: number;
  readonly modified: number;
  readonly removed: number;
  /** History has a gap there. */
  readonly gap: boolean;
}

type Step = { -readonly [Part in keyof Bar]: Bar[Part] };

/**
 * How much was written when: every change the window was told of, also those whose rows it has let go again. Changes are
 * counted once, and without holes between the first and the last counted one.
 */
export class Activity {
  /** Time of the first counted change, milliseconds since the epoch; undefined before there is one. */
  fromMs: number | undefined;
  /** The latest time of a counted change; 0 before there is one. */
  toMs = 0;
  private first = 0;
  private last = 0;
  /** By the number of the step since the epoch. */
  private readonly steps = new Map<number, Step>();

  /** Nothing that was written before the first counted change is left out. */
  get reachesStart(): boolean {
    return this.first <= 1;
  }

  /** Takes changes in, ascending: newer than the counted ones, or the ones just before them. */
  take(changes: readonly Change[]): void {
    const [start, end] = [changes[0], changes.at(-1)];
    if (start === undefined || end === undefined) return;
    const isAhead = start.seq > this.last + 1;
    const isBehind = end.seq < this.first - 1;
    if (this.fromMs === undefined || isAhead) this.restart(start);
    // Between them and what is counted there would be a hole.
    else if (isBehind) return;
    for (const change of changes) {
      if (change.seq < this.first || change.seq > this.last) this.count(change);
    }
    if (start.seq < this.first) {
      this.first = start.seq;
      this.fromMs = Date.parse(start.time);
    }
    this.last = Math.max(this.last, end.seq);
  }

  /** The counts from a moment on, `barMs` each: a whole number of {@link stepMs}, as is the moment. */
  bars(fromMs: number, barMs: number, total: number): Bar[] {
    return Array.from({ length: total }, (_, index) => this.sum((fromMs + index * barMs) / stepMs, barMs / stepMs));
  }

  private sum(from: number, steps: number): Bar {
    const sum: Step = { added: 0, modified: 0, removed: 0, gap: false };
    for (let at = from; at < from + steps; at += 1) {
      const step = this.steps.get(at);
      if (step === undefined) continue;
      sum.added += step.added;
      sum.modified += step.modified;
      sum.removed += step.removed;
      sum.gap ||= step.gap;
    }
    return sum;
  }

  private restart(change: Change): void {
    this.steps.clear();
    this.first = change.seq;
    this.last = change.seq - 1;
    this.fromMs = Date.parse(change.time);
  }

  private count(change: Change): void {
    const atMs = Date.parse(change.time);
    this.toMs = Math.max(this.toMs, atMs);
    const at = Math.floor(atMs / stepMs);
    let step = this.steps.get(at);
    if (step === undefined) {
      this.steps.set(at, (step = { added: 0, modified: 0, removed: 0, gap: false }));
      this.forget(at - longestMs / stepMs);
    }
    const kind = kindOf(change);
    if (kind === undefined) step.gap = true;
    else step[kind] += 1;
  }

  /** Steps are few: looked through when a new one begins, at most four times a second. */
  private forget(before: number): void {
    for (const at of this.steps.keys()) if (at < before) this.steps.delete(at);
  }
}
