import { useRef } from 'react';
import type { CSSProperties } from 'react';
import type { AccessLevel, Output, Pin } from '../../shared/api.ts';
import { snippet } from '../../shared/snippets.ts';
import type { SnippetKind } from '../../shared/snippets.ts';
import { UriLine } from '../connect/uri-line.tsx';
import { Button, CopyButton } from '../shell/controls.tsx';
import { Dialog } from '../shell/dialog.tsx';
import { Icon } from '../shell/icons.tsx';
import { bytes, plural } from '../shell/numbers.ts';
import { clock, moment, span } from '../shell/time.ts';
import { closeDialog, mainBranch, parentOf, useApp } from '../store/app.ts';
import { pinOrigin, pinSize } from './pins.ts';

const accessWords: Readonly<Record<AccessLevel, string>> = {
  schema: 'Read & write, schema too',
  readWrite: 'Read & write',
  read: 'Read only',
};
const handOuts: readonly { readonly kind: SnippetKind; readonly label: string }[] = [
  { kind: 'claude', label: 'Claude Code' },
  { kind: 'cursor', label: 'Cursor' },
  { kind: 'env', label: '.env' },
  { kind: 'mongosh', label: 'mongosh' },
];

/** What a fork gave: the URI, how long each step took, and how to hand it on. */
export function ForkDone({
  answer,
  copied,
  pin,
}: {
  readonly answer: Output<'branches.fork'>;
  readonly copied: boolean;
  /** What it was forked from, where that was no branch. */
  readonly pin: Pin | undefined;
}) {
  const { branch, uri, timings, endedTransactions = [] } = answer;
  const branches = useApp((app) => app.branches);
  const done = useRef<HTMLButtonElement>(null);
  const row = branches.find((other) => other.id === branch.id);
  const parent = (row === undefined ? undefined : parentOf(branches, row)) ?? mainBranch(branches);
  const sizeBytes = pin === undefined ? parent?.sizeBytes : pinSize(pin).bytes;
  const size = sizeBytes === undefined ? '' : `${bytes(sizeBytes)}, `;
  const waitedMs = timings.lock_ms + timings.copy_ms;
  return (
    <Dialog
      width={640}
      initialFocus={done}
      title={
        <span className="forked-title">
          <span className="c-add">
            <Icon name="check" />
          </span>
          {branch.name} is ready, its URI is {copied ? 'on your clipboard' : 'below'}
        </span>
      }
      foot={
        <>
          {handOuts.map(({ kind, label }) => (
            <CopyButton
              key={kind}
              size="medium"
              label={`for ${label}`}
              text={() => snippet(kind, { uri, branch: branch.name })}
            >
              {label}
            </CopyButton>
          ))}
          <span className="push" />
          <Button look="primary" size="medium" keys="enter" ref={done} onClick={closeDialog}>
            Watch it live
          </Button>
        </>
      }
    >
      <div className="forked">
        <UriLine uri={uri} short />
        <section aria-label="Timing">
          <p className="forked-total">
            <b>{(timings.total_ms / 1000).toFixed(2)} s</b>
            <span className="soft">
              {size}
              {branch.disk === 'shared'
                ? `disk shared with ${pin?.name ?? branch.parent ?? 'its parent'}`
                : 'a full copy'}
            </span>
          </p>
          <Waterfall timings={timings} />
        </section>
        <table className="ptable">
          <tbody>
            <Fact name="Forked from">
              {pin === undefined ? forkedFrom(branch, parent?.databases) : `${pin.name}, ${pinOrigin(pin)}`}
            </Fact>
            <Fact name={`Writes to ${branch.parent ?? 'main'} waited`}>
              {pin === undefined ? `${String(Math.round(waitedMs))} ms, nothing was lost` : 'not at all'}
            </Fact>
            {endedTransactions.length === 0 ? null : (
              <Fact name="Transactions ended">
                {endedTransactions.map(({ client }) => client).join(', ')}: drivers try again by themselves
              </Fact>
            )}
            <Fact name="Lives until">{livesUntil(branch)}</Fact>
            <Fact name="Access">{accessWords[branch.access]}</Fact>
          </tbody>
        </table>
      </div>
    </Dialog>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <tr>
      <th scope="row" className="soft">
        {name}
      </th>
      <td>{children}</td>
    </tr>
  );
}

/** The steps one after another; the last one ends when the first write would be recorded. */
function Waterfall({ timings }: { readonly timings: Output<'branches.fork'>['timings'] }) {
  const { lock_ms, copy_ms, boot_ms, capture_ready_ms, total_ms } = timings;
  const before = lock_ms + copy_ms + boot_ms;
  const steps = [
    { name: 'lock taken', ms: lock_ms },
    { name: 'files cloned', ms: copy_ms },
    { name: 'mongod up, primary', ms: boot_ms },
    { name: 'recording every write', ms: Math.max(0, capture_ready_ms - before) },
  ];
  const whole = Math.max(total_ms, capture_ready_ms, before, 1);
  let from = 0;
  return (
    <ul className="timing">
      {steps.map(({ name, ms }) => {
        const lane = { '--a': `${String((from / whole) * 100)}%`, '--b': `${String((ms / whole) * 100)}%` };
        from += ms;
        return (
          <li key={name}>
            {name}
            <span className="lane">
              <i style={lane as CSSProperties} />
            </span>
            <b>{Math.round(ms)} ms</b>
          </li>
        );
      })}
    </ul>
  );
}

/** `main at 13:34:02, 3 databases` */
function forkedFrom({ parent = 'main', forkedAt }: Output<'branches.fork'>['branch'], databases?: number): string {
  const at = forkedAt === undefined ? '' : ` at ${clock(forkedAt)}`;
  return `${parent}${at}${databases === undefined ? '' : `, ${plural(databases, 'database')}`}`;
}

function livesUntil({ expiresAt, forkedAt }: Output<'branches.fork'>['branch']): string {
  if (expiresAt === undefined) return 'you discard it';
  const lifeMs = Date.parse(expiresAt) - Date.parse(forkedAt ?? expiresAt);
  return `${moment(expiresAt, Date.now())}${lifeMs > 0 ? `, ${span(lifeMs)}` : ''}`;
}
