import { useMemo, useRef } from 'react';
import type { KeyboardEvent, PointerEvent } from 'react';
import type { BranchRow, LogEntry } from '../../shared/api.ts';
import { Segments } from '../shell/controls.tsx';
import { count } from '../shell/numbers.ts';
import { clock } from '../shell/time.ts';
import { useWidth } from '../shell/use-width.ts';
import { LaneNames, Lanes, laneSpacePx, lanesHeight } from './lane-drawing.tsx';
import { lanesOf } from './lanes.ts';
import type { Lane } from './lanes.ts';
import { placeLabels } from './node-labels.ts';
import { placeOf, seqAt, shareOf, stretches, type Span, type Track } from './track.ts';

const railY = 40;
const barHeightPx = 34;
/** Between the rail, or its lowest lane, and the highest bar. */
const barGapPx = 24;
const axisHeightPx = 20;

export interface Moment {
  readonly seq: number;
  /** When its change happened, as far as that is known yet. */
  readonly time?: string | undefined;
}

interface ScrubberProps {
  readonly branch: BranchRow;
  readonly track: Track;
  readonly entries: readonly LogEntry[];
  readonly moment: Moment;
  readonly span: Span;
  readonly onSpan: (span: Span) => void;
  readonly onMove: (seq: number) => void;
  /** The moment before or behind the next entry of the log. */
  readonly onStepEntry: (direction: -1 | 1) => void;
}

/** The branch's time as a rail: entries are nodes, writes are bars, gaps are hatched, the mark is the chosen moment. */
export function Scrubber(props: ScrubberProps) {
  const { branch, track, entries, moment, span, onSpan, onMove, onStepEntry } = props;
  const rail = useRef<SVGSVGElement>(null);
  const width = useWidth(rail);
  const lanes = useMemo(() => shownLanes(entries, branch.name, track, width), [entries, branch.name, track, width]);
  const axisY = railY + lanesHeight(lanes) + barGapPx + barHeightPx;
  const heightPx = axisY + axisHeightPx;
  const x = xOf(track, moment, width);
  const move = (event: PointerEvent<SVGSVGElement>): void => {
    const box = event.currentTarget.getBoundingClientRect();
    onMove(seqAt(track, (event.clientX - box.left) / box.width) ?? firstBefore(track));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key] as -1 | 1 | undefined;
    if (step !== undefined && event.shiftKey) onStepEntry(step);
    else if (step !== undefined) onMove(Math.min(track.last, Math.max(0, moment.seq + step)));
    else if (event.key === 'Home') onMove(0);
    else if (event.key === 'End') onMove(track.last);
    else return;
    event.preventDefault();
  };
  return (
    <section className="scrub" aria-label="Time">
      <div className="scrub-head">
        <b>
          {branch.name} since {clock(track.from, 'minute')}
        </b>
        <span className="soft">drag the mark, or ← → by one write, ⇧ by one entry</span>
        <span className="push" />
        <Segments
          label="Span"
          value={span}
          onChange={onSpan}
          choices={[
            { value: 'hour', label: '1 h' },
            { value: 'day', label: 'Today' },
            { value: 'all', label: 'All' },
          ]}
        />
      </div>
      <svg
        ref={rail}
        className="scrub-rail"
        height={heightPx}
        viewBox={`0 0 ${String(Math.max(1, width))} ${String(heightPx)}`}
        role="slider"
        aria-label="Moment"
        aria-valuemin={0}
        aria-valuemax={track.last}
        aria-valuenow={moment.seq}
        aria-valuetext={momentText(moment, track)}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          move(event);
        }}
        onPointerMove={(event) => {
          if (event.buttons === 1) move(event);
        }}
      >
        <Bars track={track} width={width} axisY={axisY} />
        <Lanes lanes={lanes} track={track} width={width} railY={railY} />
        <path
          className={branch.parent === undefined ? 'rail-main' : 'rail-sb'}
          d={`M0 ${String(railY)}H${String(width)}`}
        />
        <Nodes {...props} width={width} />
        <Axis track={track} width={width} axisY={axisY} />
        <rect className="veil" x={x} y={railY - 8} width={Math.max(0, width - x)} height={axisY - railY + 8} />
        <NodeLabels {...props} width={width} markX={x} />
        <LaneNames lanes={lanes} track={track} width={width} railY={railY} markX={x} />
        <Mark x={x} width={width} axisY={axisY} text={momentText(moment, track)} />
      </svg>
    </section>
  );
}

/** Where the track begins later than the branch: the last change before what it shows is not known, its first is. */
function firstBefore(track: Track): number {
  return Math.max(0, (track.bars[0]?.seq ?? 1) - 1);
}

function xOf(track: Track, { seq, time }: Moment, width: number): number {
  if (seq >= track.last) return width;
  return (time === undefined ? placeOf(track, seq) : shareOf(track, Date.parse(time))) * width;
}

function momentText({ seq, time }: Moment, track: Track): string {
  if (seq >= track.last) return 'now';
  if (seq === 0) return 'beginning';
  return time === undefined ? `change ${count(seq)}` : clock(time);
}

interface Drawn {
  readonly track: Track;
  readonly width: number;
  readonly axisY: number;
}

/** Nothing can be told of places before the rail has its width. */
function shownLanes(entries: readonly LogEntry[], branch: string, track: Track, width: number): Lane[] {
  if (width === 0) return [];
  const [from, to] = [Date.parse(track.from), Date.parse(track.to)];
  const longest = Math.max(0, ...entries.map((entry) => laneSpacePx(entry.branch)));
  return lanesOf(entries, branch, { from, to }, (longest / width) * (to - from));
}

function Bars({ track, width, axisY }: Drawn) {
  const step = width / stretches;
  const most = Math.max(1, ...track.bars.map((bar) => bar.added + bar.modified + bar.removed));
  return (
    <g aria-hidden="true">
      {track.bars.map((bar) => {
        const sum = bar.added + bar.modified + bar.removed;
        const x = bar.index * step;
        const size = Math.max(1, step - 1);
        // The root keeps single writes visible beside bursts.
        const height = sum === 0 ? 0 : Math.max(3, Math.sqrt(sum / most) * barHeightPx);
        let y = axisY;
        return (
          <g key={bar.index}>
            {bar.gap ? <HatchLines x={x} width={size} axisY={axisY} /> : null}
            {(['modified', 'added', 'removed'] as const).map((kind) => {
              const part = sum === 0 ? 0 : (bar[kind] / sum) * height;
              y -= part;
              return <rect key={kind} className={`bar-${kind}`} x={x} y={y} width={size} height={part} />;
            })}
          </g>
        );
      })}
    </g>
  );
}

/** What is not known. */
function HatchLines({ x, width, axisY }: { readonly x: number; readonly width: number; readonly axisY: number }) {
  const lines = Array.from({ length: 10 }, (_, at) => axisY - barHeightPx + at * 4);
  const path = lines.map((y) => `M${String(x)} ${String(y)}l${String(width)} -4`).join('');
  return <path className="scrub-hatch" d={path} />;
}

/** Entries of the log on the rail. */
function Nodes({ track, entries, width }: ScrubberProps & { readonly width: number }) {
  return (
    <g aria-hidden="true">
      {placed(track, entries, width).map(({ entry, x }) => (
        <circle key={entry.entry} className="node" cx={x} cy={railY} r={4.5} />
      ))}
    </g>
  );
}

/** What the entries were, above the rail; they do not fade with what is behind the mark. */
function NodeLabels({
  track,
  entries,
  width,
  markX,
}: ScrubberProps & { readonly width: number; readonly markX: number }) {
  return (
    <g aria-hidden="true">
      {placeLabels(placed(track, entries, width), markX, width).map(({ key, text, x, anchor }) => (
        <text key={key} className="axis-e" x={x} y={railY - 10} textAnchor={anchor}>
          {text}
        </text>
      ))}
    </g>
  );
}

function placed(track: Track, entries: readonly LogEntry[], width: number) {
  const begin = Date.parse(track.from);
  const shown = entries.filter(({ time }) => Date.parse(time) >= begin).sort((a, b) => a.time.localeCompare(b.time));
  return shown.map((entry) => ({ entry, x: shareOf(track, Date.parse(entry.time)) * width }));
}

const minuteMs = 60_000;
const stepsMs = [1 / 12, 1 / 4, 1 / 2, 1, 2, 5, 10, 15, 30, 60, 120, 360, 720, 1_440, 10_080].map(
  (minutes) => minutes * minuteMs,
);

function Axis({ track, width, axisY }: Drawn) {
  const [from, to] = [Date.parse(track.from), Date.parse(track.to)];
  const step = stepsMs.find((each) => ((to - from) / each) * 88 <= Math.max(width, 88)) ?? (to - from) / 8;
  const ticks: number[] = [];
  for (let at = Math.ceil(from / step) * step; at < to; at += step) ticks.push(at);
  return (
    <g aria-hidden="true">
      <path className="axis" d={`M0 ${String(axisY + 0.5)}H${String(width)}`} />
      {ticks.map((at) => {
        const x = shareOf(track, at) * width;
        return (
          <g key={at}>
            <path className="axis" d={`M${String(x)} ${String(axisY)}v4`} />
            {x < 28 || x > width - 28 ? null : (
              <text className="axis-t" x={x} y={axisY + 16} textAnchor="middle">
                {clock(at, step < minuteMs ? 'second' : 'minute')}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
}

function Mark({ x, width, axisY, text }: Omit<Drawn, 'track'> & { readonly x: number; readonly text: string }) {
  const half = Math.max(24, text.length * 3.5 + 8);
  const middle = Math.min(width - half, Math.max(half, x));
  return (
    <g aria-hidden="true" className="scrub-mark">
      <path className="now" d={`M${String(x)} 14V${String(axisY)}`} />
      <rect className="now-f" x={middle - half} y={0} width={half * 2} height={16} rx={2} />
      <text x={middle} y={12} textAnchor="middle">
        {text}
      </text>
    </g>
  );
}
