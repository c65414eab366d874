import type { Timestamp } from 'mongodb';
import { toBase64 } from '../../../shared/bson/value.ts';
import { touchedId } from '../home/touched-id.ts';
import type { StreamEvent } from './event.ts';

const mostBuckets = 50_000;

/**
 * Which events of time-series buckets need their document before the change. A bucket grows with each measurement, so images
 * of every step would cost the square of what is written. What it is now is read from the branch; what has to be
 * recorded is what it was before its first change, and before the first one after each fork. Known in memory only:
 * after a start each bucket is recorded once more.
 */
export class BucketBases {
  /** By touched id, base64, in order of use: when its document was recorded last. */
  private readonly recorded = new Map<string, Timestamp>();
  /** Cluster times of the forks since the oldest time in `recorded`, ascending. */
  private readonly forks: Timestamp[] = [];
  /** Forks whose time is not known yet. */
  private forking = 0;

  /** Whether this event's document before it is to be recorded; it then counts as recorded. */
  take(event: StreamEvent): boolean {
    const id = toBase64(touchedId(event.uuid!, event.key!));
    const last = this.recorded.get(id);
    const fork = this.forks.findLast((time) => time.compare(event.clusterTime) < 0);
    const isKnown = this.forking === 0 && last !== undefined && (fork === undefined || last.compare(fork) > 0);
    if (isKnown) return false;
    this.recorded.delete(id);
    this.recorded.set(id, event.clusterTime);
    for (const oldest of this.recorded.keys()) {
      if (this.recorded.size <= mostBuckets) break;
      this.recorded.delete(oldest);
    }
    return true;
  }

  /** A fork begins; its time is told when it is known, or undefined where it came to nothing. */
  fork(): (at: Timestamp | undefined) => void {
    this.forking += 1;
    return (at) => {
      this.forking -= 1;
      if (at) this.forks.push(at);
      if (this.forks.length > 1_000) this.forget();
    };
  }

  /** What was taken may not have been stored. */
  forget(): void {
    this.recorded.clear();
    this.forks.length = 0;
  }
}
