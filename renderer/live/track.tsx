import { useEffect, useMemo, useRef } from 'react';
import { count, plural } from '../shell/numbers.ts';
import { clock, span, useNow } from '../shell/time.ts';
import { useWidth } from '../shell/use-width.ts';
import { longestMs, stepMs } from './activity.ts';
import type { Bar } from './activity.ts';
import { newRows } from './feed.ts';
import type { Feed } from './feed.ts';

const barPx = 4;
const heightPx = 28;
/** The track shows at least this long, and more where what is counted reaches back further. */
const shortestMs = 2 * 60_000;

/** Writes over the last minutes, one bar per four pixels; outlines where the feed is held. Its spoken form is a sentence. */
export function ActivityTrack({ feed }: { readonly feed: Feed }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const clockMs = useNow(2_000);
  const width = useWidth(canvas);
  const { activity, head, pausedAt } = feed;
  // The newest write may be younger than the clock's last tick.
  const now = Math.max(clockMs, activity.toMs);
  const reach = now - (activity.fromMs ?? now);
  const total = Math.max(1, Math.floor(width / barPx));
  const wantedMs = Math.min(longestMs, Math.max(shortestMs, reach));
  const barMs = Math.ceil(wantedMs / total / stepMs) * stepMs;
  const lengthMs = barMs * total;
  const from = (Math.floor(now / barMs) + 1 - total) * barMs;
  const heldMs = heldSince(feed);
  const bars = useMemo(
    () => activity.bars(from, barMs, total),
    // What is counted changes with the newest and the oldest change it was told of.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [activity, head, activity.fromMs, from, barMs, total],
  );
  const held = heldMs === undefined ? total : Math.max(0, Math.ceil((heldMs - from) / barMs));
  useEffect(() => {
    if (canvas.current !== null && width > 0) draw(canvas.current, bars, held);
  }, [bars, held, width]);
  const shown = countOf(bars);
  const waiting = heldMs === undefined ? 0 : newRows(feed);
  const share = (at: number): string => `${String(Math.min(1, Math.max(0, (at - from) / lengthMs)) * 100)}%`;
  const unread = !activity.reachesStart && activity.fromMs !== undefined && activity.fromMs > from;
  return (
    <div className="track">
      <div className="track-plot">
        {unread ? (
          <span className="track-unread" aria-hidden="true" style={{ width: share(activity.fromMs ?? from) }} />
        ) : null}
        <canvas
          ref={canvas}
          height={heightPx}
          role="img"
          aria-label={[
            `${plural(shown, 'write')} in the last ${span(lengthMs)}`,
            waiting === 0 ? '' : `, ${count(waiting)} of them held back`,
            unread ? `; those before ${clock(activity.fromMs ?? from)} are not read yet` : '',
          ].join('')}
        />
        {pausedAt === undefined || pausedAt < from ? null : (
          <span className="track-paused" aria-hidden="true" style={{ left: share(pausedAt) }}>
            paused
          </span>
        )}
      </div>
      <div className="track-axis" aria-hidden="true">
        {ticks(from, lengthMs).map((tick) => (
          <span key={tick.at} style={{ left: `${String(tick.share * 100)}%` }}>
            {clock(tick.at, 'minute')}
          </span>
        ))}
      </div>
    </div>
  );
}

/** From when on writes wait to be shown: since the pause, or since the newest row of a view that is scrolled away. */
function heldSince({ pausedAt, away, changes, head }: Feed): number | undefined {
  const newest = changes.at(-1);
  if (pausedAt !== undefined) return pausedAt;
  return away && newest !== undefined && newest.seq < head ? Date.parse(newest.time) + 1 : undefined;
}

function countOf(bars: readonly Bar[]): number {
  return bars.reduce((sum, bar) => sum + bar.added + bar.modified + bar.removed, 0);
}

/** Bars from `held` on are outlines: their writes are recorded and not shown yet. */
function draw(canvas: HTMLCanvasElement, bars: readonly Bar[], held: number): void {
  const scale = window.devicePixelRatio;
  const width = bars.length * barPx;
  canvas.width = width * scale;
  canvas.height = heightPx * scale;
  const pen = canvas.getContext('2d');
  if (pen === null) return;
  pen.scale(scale, scale);
  const colours = getComputedStyle(canvas);
  const colour = (name: string): string => colours.getPropertyValue(name);
  const most = Math.max(1, ...bars.map((bar) => bar.added + bar.modified + bar.removed));
  bars.forEach((bar, index) => {
    const sum = bar.added + bar.modified + bar.removed;
    const x = index * barPx;
    if (bar.gap) hatch(pen, x, colour('--edge'));
    if (sum === 0) return;
    // The root keeps single writes visible beside bursts.
    const height = Math.max(2, Math.sqrt(sum / most) * (heightPx - 4));
    if (index >= held) {
      pen.strokeStyle = colour('--edge');
      pen.lineWidth = 1;
      pen.strokeRect(x + 0.5, heightPx - height + 0.5, barPx - 2, height);
      return;
    }
    let y = heightPx;
    for (const [kind, name] of [
      ['modified', '--mod-mark'],
      ['added', '--add-mark'],
      ['removed', '--rem-mark'],
    ] as const) {
      const part = (bar[kind] / sum) * height;
      pen.fillStyle = colour(name);
      pen.fillRect(x, y - part, barPx - 1, part);
      y -= part;
    }
  });
}

function hatch(pen: CanvasRenderingContext2D, x: number, colour: string): void {
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let y = 0; y < heightPx; y += 6) {
    pen.moveTo(x, y + 4);
    pen.lineTo(x + barPx, y);
  }
  pen.stroke();
}

function ticks(from: number, lengthMs: number): { at: number; share: number }[] {
  const minute = 60_000;
  const stepMs = lengthMs > 10 * minute ? 2 * minute : lengthMs > 4 * minute ? minute : minute / 2;
  const found: { at: number; share: number }[] = [];
  for (let at = Math.ceil(from / stepMs) * stepMs; at < from + lengthMs; at += stepMs) {
    const share = (at - from) / lengthMs;
    if (share > 0.02 && share < 0.98 && at % minute === 0) found.push({ at, share });
  }
  return found;
}
