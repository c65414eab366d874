import { mostRows } from './lanes.ts';
import type { Lane } from './lanes.ts';
import { letterPx } from './node-labels.ts';
import { shareOf } from './track.ts';
import type { Track } from './track.ts';

const firstPx = 20;
const rowPx = 18;
/** How long a siding takes to leave or to join its rail. */
const bendPx = 22;
/** Between the mark and a name beside it. */
const markGapPx = 10;

interface LanesProps {
  readonly lanes: readonly Lane[];
  readonly track: Track;
  readonly width: number;
  /** Where the rail is that they leave, from the top. */
  readonly railY: number;
}

/** How much room lanes take below the rail. */
export function lanesHeight(lanes: readonly Lane[]): number {
  const rows = Math.min(mostRows, Math.max(0, ...lanes.map(({ row }) => row + 1)));
  return rows === 0 ? 0 : firstPx + (rows - 1) * rowPx;
}

/** About how wide a name is drawn, with what a lane needs to leave before it. */
export function laneSpacePx(name: string): number {
  return bendPx + name.length * letterPx + 24;
}

/** Sandboxes beside the rail they left: joined again where something of theirs was adopted, a buffer stop where they ended. */
export function Lanes({ lanes, track, width, railY }: LanesProps) {
  return (
    <g aria-hidden="true" className="lanes">
      {lanes.map((lane) => (
        <path key={`${lane.name} ${String(lane.from)}`} className="rail-sb" d={lanePath(lane, track, width, railY)} />
      ))}
    </g>
  );
}

function lanePath(lane: Lane, track: Track, width: number, railY: number): string {
  const y = laneY(lane, railY);
  const place = (time: number): number => shareOf(track, time) * width;
  const start = place(lane.from);
  const end = lane.to === undefined ? width : place(lane.to);
  // One that was there before what is shown comes in from the left.
  const turn = Math.min(bendPx, (end - start) / 2);
  const leaves = lane.from < Date.parse(track.from) ? `M0 ${px(y)}` : bend(start, railY, start + turn, y);
  const stop = lane.to === undefined ? '' : `M${px(end)} ${px(y - 4)}v8`;
  const joins = lane.adoptions.map(place).map((at) => bend(Math.max((start + at) / 2, at - turn), y, at, railY));
  return `${leaves}H${px(end)}${stop}${joins.join('')}`;
}

/** From one height to another, level at both ends. */
function bend(x: number, y: number, toX: number, toY: number): string {
  const half = (toX - x) / 2;
  return `M${px(x)} ${px(y)}C${px(x + half)} ${px(y)} ${px(x + half)} ${px(toY)} ${px(toX)} ${px(toY)}`;
}

/** The names of the sandboxes on their lanes, where there is room; above everything that fades, beside the mark. */
export function LaneNames({ lanes, track, width, railY, markX }: LanesProps & { readonly markX: number }) {
  return (
    <g aria-hidden="true">
      {lanes.map((lane) => {
        const start = shareOf(track, lane.from) * width + bendPx + 12;
        const end = lane.to === undefined ? width : shareOf(track, lane.to) * width;
        const size = lane.name.length * letterPx;
        const isCrossed = markX > start - markGapPx && markX < start + size + markGapPx;
        const x = isCrossed ? markX + markGapPx : start;
        if (end - x < size) return null;
        return (
          <text key={`${lane.name} ${String(lane.from)}`} className="axis-e lane-name" x={x} y={laneY(lane, railY) + 4}>
            {lane.name}
          </text>
        );
      })}
    </g>
  );
}

function laneY({ row }: Lane, railY: number): number {
  return railY + firstPx + row * rowPx;
}

function px(value: number): string {
  return value.toFixed(1);
}
