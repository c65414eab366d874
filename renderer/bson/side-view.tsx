import { useMemo, useRef } from 'react';
import type { CSSProperties } from 'react';
import { useVirtualRows } from '../shell/virtual-rows.ts';
import { lineClasses, useFollowed } from './document-view.tsx';
import type { ViewProps } from './document-view.tsx';
import { LineText, signs } from './line-text.tsx';
import type { Line } from './line.ts';
import { sideRows } from './side-rows.ts';
import type { SideRow } from './side-rows.ts';

/** A change in two columns, before and after, only the rows in view. */
export function SideBySideView({ lines, heads, ...view }: ViewProps & { readonly heads: readonly [string, string] }) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => sideRows(lines), [lines]);
  const virtual = useVirtualRows({
    scroller,
    count: rows.length,
    height: () => 20,
    keyOf: (index) => rows[index]?.key ?? index,
    overscan: 20,
  });
  const isCurrent = (row: SideRow): boolean => view.current !== undefined && boxLine(row)?.key === view.current;
  const at = rows.findIndex(isCurrent);
  useFollowed(scroller, view.current, at, virtual.scrollToIndex);
  return (
    <div className="sides">
      <div className="sides-head" aria-hidden="true">
        <span className="cut">{heads[0]}</span>
        <span className="cut">{heads[1]}</span>
      </div>
      <div className="doc doc-sides" ref={scroller} role="group" aria-label={view.label} tabIndex={0}>
        <div className="doc-all" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            return (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                className={isCurrent(row) ? 'doc-row current' : 'doc-row'}
                style={{ transform: `translateY(${String(item.start)}px)` }}
              >
                <span className="box">{boxOf(row, view)}</span>
                <Cell line={row.left} side="left" view={view} />
                <Cell line={row.right} side="right" view={view} />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function boxLine({ left, right }: SideRow): Line | undefined {
  return left?.box === true ? left : right?.box === true ? right : undefined;
}

function boxOf(row: SideRow, view: Pick<ViewProps, 'box'>) {
  const line = boxLine(row);
  return line === undefined ? null : view.box?.(line);
}

function Cell({
  line,
  side,
  view: { onOpenFold, end, isOut },
}: {
  readonly line: Line | undefined;
  readonly side: 'left' | 'right';
  readonly view: Omit<ViewProps, 'lines'>;
}) {
  if (line === undefined) return <div className="dl none" />;
  const twice = line.tone !== 'rem' && line.tone !== 'add' && line.tone !== 'con';
  // What stands on both sides is read out once, and its fold is opened from the left.
  const isEcho = twice && side === 'right';
  const shown = line.types === undefined ? line : typedSide(line, side);
  return (
    <div
      className={lineClasses(line, isOut?.(line) === true, false)}
      style={{ '--d': line.depth } as CSSProperties}
      aria-hidden={isEcho && line.types === undefined ? true : undefined}
    >
      <span className="g" aria-hidden="true">
        {isEcho && line.tone === 'fold' ? '' : signs[line.tone]}
      </span>
      {isEcho && line.tone === 'fold' ? <span className="t" /> : <LineText line={shown} onOpenFold={onOpenFold} />}
      <span className="x">{side === 'left' && twice ? null : (end?.(line) ?? line.note)}</span>
    </div>
  );
}

/** Where only the type changed, each side names its own. */
function typedSide(line: Line, side: 'left' | 'right'): Line {
  const { types, ...rest } = line;
  const type = types?.[side === 'left' ? 0 : 1] ?? '';
  return { ...rest, pieces: [...line.pieces, { text: `  ${type}`, mark: 'word' }] };
}
