import { useEffect, useMemo, useRef } from 'react';
import type { Change } from '../../shared/api.ts';
import { plural } from '../shell/numbers.ts';
import { clock, span, useNow } from '../shell/time.ts';
import { useWidth } from '../shell/use-width.ts';
import { kindOf } from './kinds.ts';

const barPx = 4;
const heightPx = 28;
/** The track shows this long, or less where the loaded rows reach back less far. */
const longestMs = 20 * 60_000;
const shortestMs = 2 * 60_000;

interface Bar {
  added: number;
  modified: number;
  removed: number;
  gap: boolean;
}

/** Writes over the last minutes, one bar per four pixels. Its spoken form is a sentence. */
export function ActivityTrack({
  changes,
  pausedAt,
}: {
  readonly changes: readonly Change[];
  readonly pausedAt: number | undefined;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const now = useNow(2_000);
  const width = useWidth(canvas);
  const first = changes[0];
  const reach = first === undefined ? shortestMs : now - Date.parse(first.time);
  const lengthMs = Math.min(longestMs, Math.max(shortestMs, reach));
  const bars = useMemo(
    () => barsOf(changes, now - lengthMs, lengthMs, Math.floor(width / barPx)),
    [changes, now, lengthMs, width],
  );
  useEffect(() => {
    if (canvas.current !== null) draw(canvas.current, bars);
  }, [bars]);
  const shown = bars.reduce((sum, bar) => sum + bar.added + bar.modified + bar.removed, 0);
  return (
    <div className="track">
      <canvas
        ref={canvas}
        height={heightPx}
        role="img"
        aria-label={`${plural(shown, 'write')} in the last ${span(lengthMs)}`}
      />
      {pausedAt === undefined || pausedAt < now - lengthMs ? null : (
        <span
          className="track-paused"
          aria-hidden="true"
          style={{ left: `${String((1 - Math.max(0, now - pausedAt) / lengthMs) * 100)}%` }}
        >
          paused
        </span>
      )}
      <div className="track-axis" aria-hidden="true">
        {ticks(now - lengthMs, lengthMs).map((tick) => (
          <span key={tick.at} style={{ left: `${String(tick.share * 100)}%` }}>
            {clock(tick.at, 'minute')}
          </span>
        ))}
      </div>
    </div>
  );
}

function barsOf(changes: readonly Change[], from: number, lengthMs: number, total: number): Bar[] {
  const bars = Array.from({ length: Math.max(0, total) }, (): Bar => ({
    added: 0,
    modified: 0,
    removed: 0,
    gap: false,
  }));
  for (let at = changes.length - 1; at >= 0; at -= 1) {
    const change = changes[at];
    if (change === undefined) continue;
    const offset = Date.parse(change.time) - from;
    if (offset < 0) break;
    const bar = bars[Math.min(total - 1, Math.floor((offset / lengthMs) * total))];
    if (bar === undefined) continue;
    const kind = kindOf(change);
    if (kind === undefined) bar.gap = true;
    else bar[kind] += 1;
  }
  return bars;
}

function draw(canvas: HTMLCanvasElement, bars: readonly Bar[]): void {
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
