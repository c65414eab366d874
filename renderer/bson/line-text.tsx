import type { Line } from './line.ts';
import type { Piece } from './text-marks.ts';

export const signs = { plain: '', fold: '', add: '+', rem: '−', mod: '~', con: '!' } as const;
const signWords = {
  plain: '',
  fold: '',
  add: 'after: ',
  rem: 'before: ',
  mod: 'changed: ',
  con: 'conflict: ',
} as const;

/** Name and value of a line, with what differs marked; a fold is a button that opens it. */
export function LineText({ line, onOpenFold }: { readonly line: Line; readonly onOpenFold: (key: string) => void }) {
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
        {line.pieces.map((piece, index) => (
          <PieceText key={index} piece={piece} />
        ))}
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

function PieceText({ piece: { text, mark } }: { readonly piece: Piece }) {
  switch (mark) {
    case 'ins':
      return <ins>{text}</ins>;
    case 'del':
      return <del>{text}</del>;
    case 'gap':
      return <span className="gap">{text}</span>;
    case 'word':
      return <span className="word">{text}</span>;
    case undefined:
      return text;
  }
}
