import { useEffect, useRef } from 'react';
import type { CSSProperties, ReactNode } from 'react';
import { useScrollPlace } from '../shell/scroll-place.ts';
import { useVirtualRows } from '../shell/virtual-rows.ts';
import { LineText, signs } from './line-text.tsx';
import type { Line } from './line.ts';

/** How a document's lines are drawn, whatever their layout. */
export interface ViewProps<L extends Line = Line> {
  readonly lines: readonly L[];
  readonly label: string;
  readonly onOpenFold: (key: string) => void;
  /** What stands before a line: where a choice is made. */
  readonly box?: (line: Line) => ReactNode;
  /** What stands at a line's right, in place of its note. */
  readonly end?: (line: L) => ReactNode;
  readonly isOut?: (line: Line) => boolean;
  /** The key of the line that has the keyboard. */
  readonly current?: string | undefined;
}

/** A document's lines below each other, only those in view. */
export function DocumentView<L extends Line>({
  lines,
  label,
  look,
  onOpenFold,
  box,
  end,
  isOut,
  current,
}: ViewProps<L> & { readonly look?: 'result' }) {
  const view = useRef<HTMLDivElement>(null);
  const { scroller, abovePx } = useScrollPlace(view);
  const virtual = useVirtualRows({
    scroller,
    abovePx,
    count: lines.length,
    height: () => 20,
    keyOf: (index) => lines[index]?.key ?? index,
    overscan: 20,
  });
  useFollowed(
    scroller,
    current,
    lines.findIndex((line) => line.key === current),
    virtual.scrollToIndex,
  );
  const classes = ['doc', box === undefined ? '' : 'doc-pick', look === undefined ? '' : `doc-${look}`]
    .join(' ')
    .trim();
  return (
    <div className={classes} ref={view} role="group" aria-label={label} tabIndex={0}>
      <div className="doc-all" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const line = lines[item.index];
          if (line === undefined) return null;
          return (
            <div
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              className={lineClasses(line, isOut?.(line) === true, line.key === current)}
              style={{ '--d': line.depth, transform: `translateY(${String(item.start - abovePx)}px)` } as CSSProperties}
            >
              {box === undefined ? null : <span className="box">{box(line)}</span>}
              <span className="g" aria-hidden="true">
                {signs[line.tone]}
              </span>
              <LineText line={line} onOpenFold={onOpenFold} />
              <span className="x">{end?.(line) ?? line.note}</span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

export function lineClasses(line: Line, out: boolean, current: boolean): string {
  const classes = ['dl', line.tone, line.wrap === true ? 'wrap' : '', out ? 'out' : '', current ? 'current' : ''];
  return classes.filter(Boolean).join(' ');
}

/** Brings the row that was stepped to into view, then gives its box the keyboard. */
export function useFollowed(
  scroller: React.RefObject<HTMLElement | null>,
  current: string | undefined,
  index: number,
  scrollTo: (index: number) => void,
): void {
  useEffect(() => {
    if (current === undefined || index < 0) return;
    scrollTo(index);
    const frame = requestAnimationFrame(() => {
      scroller.current?.querySelector<HTMLElement>('.current [role=checkbox]')?.focus({ preventScroll: true });
    });
    return () => {
      cancelAnimationFrame(frame);
    };
    // Followed when the place is stepped to, not when lines around it open.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [current]);
}
