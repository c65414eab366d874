import { useRef } from 'react';
import type { CSSProperties, ReactNode } from 'react';
import { useVirtualRows } from '../shell/virtual-rows.ts';
import type { Line } from './line.ts';

const signs = { plain: '', fold: '', add: '+', rem: '−', mod: '~', con: '!' } as const;
const signWords = {
  plain: '',
  fold: '',
  add: 'after: ',
  rem: 'before: ',
  mod: 'changed: ',
  con: 'conflict: ',
} as const;

/**
 * A document's lines, only those in view. `box` draws what stands before a line (where a choice is made), `end` what stands
 * at its right; `current` is the key of the line that has the keyboard.
 */
export function DocumentView({
  lines,
  label,
  onOpenFold,
  box,
  end,
  isOut,
  current,
}: {
  readonly lines: readonly Line[];
  readonly label: string;
  readonly onOpenFold: (key: string) => void;
  readonly box?: (line: Line) => ReactNode;
  readonly end?: (line: Line) => ReactNode;
  readonly isOut?: (line: Line) => boolean;
  readonly current?: string | undefined;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualRows({
    scroller,
    count: lines.length,
    height: () => 20,
    keyOf: (index) => lines[index]?.key ?? index,
    overscan: 20,
  });
  return (
    <div
      className={box === undefined ? 'doc' : 'doc doc-pick'}
      ref={scroller}
      role="group"
      aria-label={label}
      tabIndex={0}
    >
      <div className="doc-all" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const line = lines[item.index];
          if (line === undefined) return null;
          const out = isOut?.(line) === true;
          const classes = ['dl', line.tone, out ? 'out' : '', line.key === current ? 'current' : ''].filter(Boolean);
          return (
            <div
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              className={classes.join(' ')}
              style={{ '--d': line.depth, transform: `translateY(${String(item.start)}px)` } as CSSProperties}
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

function LineText({ line, onOpenFold }: { readonly line: Line; readonly onOpenFold: (key: string) => void }) {
  const [first] = line.pieces;
  if (line.tone === 'fold') {
    return (
      <button type="button" className="t" onClick={() => onOpenFold(line.key)}>
        {first?.text}
      </button>
    );
  }
  return (
    <span className="t">
      {signWords[line.tone] === '' ? null : <span className="sr">{signWords[line.tone]}</span>}
      {line.name === undefined ? null : (
        <>
          <span className="k">{line.name === '' ? '""' : line.name}</span>:{' '}
        </>
      )}
      <span className="v">
        {line.pieces.map((piece, index) =>
          piece.mark === 'ins' ? (
            <ins key={index}>{piece.text}</ins>
          ) : piece.mark === 'del' ? (
            <del key={index}>{piece.text}</del>
          ) : (
            piece.text
          ),
        )}
      </span>
      {line.types === undefined ? null : (
        <span className="type-change">
          <span className="type">{line.types[0]}</span> <span className="quiet">→</span>{' '}
          <span className="type">{line.types[1]}</span>
        </span>
      )}
    </span>
  );
}
