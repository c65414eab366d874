import type { CSSProperties } from 'react';
import type { ChangeKind } from '../../shared/api.ts';
import { actorHue } from './actor-hue.ts';
import { Icon } from './icons.tsx';
import { count } from './numbers.ts';

const kindDrawings = {
  added: { className: 'op op-add', path: 'M6 2v8M2 6h8', word: 'added' },
  modified: { className: 'op op-mod', path: 'M1.5 7.2c.9-2.2 2.4-2.5 4.5-1.2s3.6 1 4.5-1.2', word: 'changed' },
  removed: { className: 'op op-rem', path: 'M2 6h8', word: 'removed' },
} as const;

/** The sign of a change: `+`, `~` or `−`, tinted, with its word for screen readers. */
export function KindMark({ kind, word }: { readonly kind: ChangeKind; readonly word?: string }) {
  const drawing = kindDrawings[kind];
  return (
    <span className={drawing.className}>
      <svg viewBox="0 0 12 12" aria-hidden="true">
        <path d={drawing.path} />
      </svg>
      <span className="sr">{word ?? drawing.word}</span>
    </span>
  );
}

export interface KindCounts {
  readonly added: number;
  readonly modified: number;
  readonly removed: number;
  readonly conflicts?: number;
}

/** `+5 ~30 −2 ⚠2`; zeros are left out. */
export function Counts({ counts }: { readonly counts: KindCounts }) {
  const { added, modified, removed, conflicts = 0 } = counts;
  const words = [
    added > 0 ? `${count(added)} added` : '',
    modified > 0 ? `${count(modified)} changed` : '',
    removed > 0 ? `${count(removed)} removed` : '',
    conflicts > 0 ? `${count(conflicts)} ${conflicts === 1 ? 'conflict' : 'conflicts'}` : '',
  ].filter((word) => word !== '');
  if (words.length === 0) return null;
  return (
    <span className="counts" role="img" aria-label={words.join(', ')}>
      {added > 0 ? <span className="c-add">+{count(added)}</span> : null}
      {modified > 0 ? <span className="c-mod">~{count(modified)}</span> : null}
      {removed > 0 ? <span className="c-rem">−{count(removed)}</span> : null}
      {conflicts > 0 ? (
        <span className="c-con">
          <Icon name="conflict" small />
          {count(conflicts)}
        </span>
      ) : null}
    </span>
  );
}

/** An actor as two letters in its own colour; programs are square. */
export function Actor({ name, small = false }: { readonly name: string; readonly small?: boolean }) {
  const hue = { '--who-hue': `var(--actor-${String(actorHue(name))})` } as CSSProperties;
  return (
    <span className={small ? 'who who-a who-s' : 'who who-a'} style={hue} title={name}>
      <span aria-hidden="true">{initials(name)}</span>
      <span className="sr">{name}</span>
    </span>
  );
}

/** At most `most` actors, then how many more. */
export function Actors({
  names,
  small = false,
  most = 2,
}: {
  readonly names: readonly string[];
  readonly small?: boolean;
  readonly most?: number;
}) {
  if (names.length === 0) return null;
  const shown = names.length > most + 1 ? names.slice(0, most) : names;
  const more = names.slice(shown.length);
  return (
    <span className="whos">
      {shown.map((name) => (
        <Actor key={name} name={name} small={small} />
      ))}
      {more.length === 0 ? null : (
        <span className={small ? 'who who-s' : 'who'} title={more.join(', ')}>
          <span aria-hidden="true">+{more.length}</span>
          <span className="sr">and {more.join(', ')}</span>
        </span>
      )}
    </span>
  );
}

/** One actor with its name beside it, as far as there is room; several as letters alone. */
export function NamedActors({ names }: { readonly names: readonly string[] }) {
  const [only] = names;
  return (
    <>
      <Actors names={names} small={names.length === 1} />
      {names.length !== 1 ? null : (
        <span className="who-name cut" aria-hidden="true">
          {only}
        </span>
      )}
    </>
  );
}

/** Two letters of a name: of its first two words (`claude-code` -> `CC`), else its first two letters. */
export function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const [first = '', second] = words;
  const letters =
    second === undefined ? [...first].slice(0, 2).join('') : `${[...first][0] ?? ''}${[...second][0] ?? ''}`;
  return letters.toUpperCase();
}
