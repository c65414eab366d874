import { useEffect, useState } from 'react';
import type { BranchRow, Output } from '../../shared/api.ts';
import { call, isConnectionLoss } from '../store/engine.ts';

export type Track = Output<'changes.track'>;
export type Span = 'hour' | 'day' | 'all';

/** How many stretches the shown time is cut into: one bar each. */
export const stretches = 160;

const hourMs = 3_600_000;

/** When a branch was written to, asked for again as it moves (at most once a second). */
export function useTrack(branch: BranchRow, span: Span): Track | undefined {
  const [track, setTrack] = useState<Track>();
  const { name, seq, forkedAt } = branch;
  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(() => {
      const from = startOf(span, forkedAt, Date.now());
      call('changes.track', { branch: name, stretches, ...(from === undefined ? {} : { from }) }).then(
        (answer) => {
          if (isCurrent) setTrack(answer);
        },
        (error: unknown) => {
          if (!isConnectionLoss(error)) throw error;
        },
      );
    }, 200);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [name, seq, forkedAt, span]);
  return track;
}

/** Not before the branch began: nothing is there to see. */
function startOf(span: Span, forkedAt: string | undefined, now: number): string | undefined {
  if (span === 'all') return undefined;
  const start = span === 'hour' ? now - hourMs : new Date(now).setHours(0, 0, 0, 0);
  return forkedAt !== undefined && start <= Date.parse(forkedAt) ? undefined : new Date(start).toISOString();
}

/** Where a time stands on the track, 0 to 1. */
export function shareOf(track: Track, time: number): number {
  const from = Date.parse(track.from);
  return Math.min(1, Math.max(0, (time - from) / Math.max(1, Date.parse(track.to) - from)));
}

/** The last change up to a place on the track; undefined where the track holds none before it. */
export function seqAt(track: Track, share: number): number | undefined {
  return track.bars.filter((bar) => bar.index / stretches <= share).at(-1)?.seq;
}

/** Where a change stands: at the end of the stretch that holds it, which is as exact as a bar is wide. */
export function placeOf(track: Track, seq: number): number {
  if (seq >= track.last) return 1;
  const bar = track.bars.find((each) => each.seq >= seq);
  return bar === undefined ? 1 : seq === 0 ? 0 : Math.min(1, (bar.index + 0.5) / stretches);
}
