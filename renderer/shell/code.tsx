import type { ReactNode } from 'react';

const linesShown = 400;

/** A text with line numbers. `shell` marks comments and called methods, nothing more. */
export function Code({
  text,
  label,
  language,
}: {
  readonly text: string;
  readonly label: string;
  readonly language?: 'shell';
}) {
  const lines = text.split('\n');
  const shown = lines.slice(0, linesShown);
  return (
    <pre className="code" aria-label={label} tabIndex={0} role="region">
      {shown.map((line, index) => (
        <span className="code-line" key={index}>
          <span className="n" aria-hidden="true">
            {index + 1}
          </span>
          {language === 'shell' ? shellParts(line) : hiddenParts(line)}
          {'\n'}
        </span>
      ))}
      {shown.length < lines.length ? (
        <span className="cm">{`${String(lines.length - shown.length)} more lines are in the copy.`}</span>
      ) : null}
    </pre>
  );
}

function shellParts(line: string): ReactNode {
  if (line.trimStart().startsWith('//')) return <span className="cm">{line}</span>;
  const call = /^(.*?\.)([A-Za-z]+)(\(.*)$/.exec(line);
  if (call === null) return line;
  return (
    <>
      {call[1]}
      <span className="fn">{call[2]}</span>
      {call[3]}
    </>
  );
}

/** Dots that stand for a password are set back. */
function hiddenParts(line: string): ReactNode {
  return line.split(/(•+)/).map((part, index) =>
    part.startsWith('•') ? (
      <span key={index} className="hide">
        {part}
      </span>
    ) : (
      part
    ),
  );
}
