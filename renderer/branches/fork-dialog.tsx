import { useEffect, useMemo, useRef, useState } from 'react';
import type { AccessLevel, Output, Pin } from '../../shared/api.ts';
import { AccessChoice } from '../connect/access-choice.tsx';
import { lifeOf, lives } from '../settings/choices.ts';
import type { Life } from '../settings/choices.ts';
import { useDefaultLife } from '../settings/default-life.ts';
import { useAttempt } from '../shell/attempt.ts';
import { copyText } from '../shell/clipboard.ts';
import { Button, Segments } from '../shell/controls.tsx';
import { Dialog, ErrorNote } from '../shell/dialog.tsx';
import { Actor } from '../shell/marks.tsx';
import { Pick } from '../shell/menu.tsx';
import { bytes } from '../shell/numbers.ts';
import { moment, span } from '../shell/time.ts';
import { branchById, chooseBranch, closeDialog, hasEnded, pinKey, useApp } from '../store/app.ts';
import { call } from '../store/engine.ts';
import { ForkDone } from './fork-done.tsx';
import { suggestName } from './names.ts';
import { treeRows } from './order.ts';
import { pinOrigin, pinSize } from './pins.ts';

const actorKey = 'forkyard.actor';

type Forked = Output<'branches.fork'>;

/** Name, parent, time to live, access; ends on the copied URI. */
export function ForkDialog({ from, name }: { readonly from: string; readonly name?: string | undefined }) {
  const [forked, setForked] = useState<{
    readonly answer: Forked;
    readonly copied: boolean;
    readonly pin: Pin | undefined;
  }>();
  if (forked !== undefined) return <ForkDone {...forked} />;
  return (
    <ForkForm
      from={from}
      suggested={name}
      onForked={(answer, copied, pin) => {
        chooseBranch(answer.branch.id, 'live');
        setForked({ answer, copied, pin });
      }}
    />
  );
}

function ForkForm({
  from,
  suggested,
  onForked,
}: {
  readonly from: string;
  readonly suggested: string | undefined;
  readonly onForked: (answer: Forked, copied: boolean, pin: Pin | undefined) => void;
}) {
  const branches = useApp((app) => app.branches);
  const pins = useApp((app) => app.pins);
  const nameField = useRef<HTMLInputElement>(null);
  const [name, setName] = useState(
    () => suggested ?? suggestName([...branches, ...pins].map(({ name: taken }) => taken)),
  );
  const [parentId, setParentId] = useState(from);
  const [chosenLife, setChosenLife] = useState<Life>();
  const defaultMs = useDefaultLife();
  const ttlMs = chosenLife === undefined ? defaultMs : lives[chosenLife];
  const [access, setAccess] = useState<AccessLevel>('schema');
  const [actor, setActor] = useState(() => localStorage.getItem(actorKey) ?? 'agent');
  const { busy, error, attempt } = useAttempt();
  const source = useSource(parentId);

  const fork = async (endTransactions: boolean): Promise<void> => {
    if (source === undefined) return;
    await attempt(
      async () => {
        const answer = await call('branches.fork', {
          name: name.trim(),
          from: source.name,
          ...(ttlMs === undefined ? {} : { ttlMs }),
          access,
          ...(actor.trim() === '' ? {} : { actor: actor.trim() }),
          ...(endTransactions ? { endTransactions } : {}),
        });
        localStorage.setItem(actorKey, actor.trim());
        onForked(answer, await copyText(answer.uri), source.pin);
      },
      ({ code }) => (isNameRefused(code) ? nameField.current?.select() : undefined),
    );
  };

  return (
    <Dialog
      title="Fork a sandbox"
      lead={`A complete MongoDB of its own. Whatever happens in it, ${source?.name ?? 'its parent'} stays as it is.`}
      width={560}
      initialFocus={nameField}
      busy={busy}
      foot={
        <>
          <span className="note">
            {busy ? (
              <Elapsed />
            ) : source?.sizeBytes === undefined ? null : (
              `${source.name} is ${bytes(source.sizeBytes)}.`
            )}
          </span>
          <span className="push" />
          <Button size="medium" onClick={closeDialog} disabled={busy}>
            Cancel <kbd aria-hidden="true">Esc</kbd>
          </Button>
          <Button
            look="primary"
            size="medium"
            icon="fork"
            keys="enter"
            disabled={busy}
            onClick={() => void fork(false)}
          >
            {busy ? 'Forking' : 'Fork'}
          </Button>
        </>
      }
    >
      <div
        className="form"
        onKeyDown={(event) => {
          const onButton = event.target instanceof HTMLElement && event.target.getAttribute('aria-haspopup') !== null;
          if (event.key === 'Enter' && !onButton) {
            event.preventDefault();
            void fork(false);
          }
        }}
      >
        <label htmlFor="fork-name">Name</label>
        <div className="field field-ink">
          <input
            id="fork-name"
            ref={nameField}
            value={name}
            spellCheck={false}
            autoComplete="off"
            aria-invalid={isNameRefused(error?.code)}
            aria-describedby={isNameRefused(error?.code) ? 'fork-error' : undefined}
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <label htmlFor="fork-from">From</label>
        <ParentPick parentId={parentId} onChange={setParentId} />
        {source?.pin === undefined ? null : (
          <p className="hint">{`${pinOrigin(source.pin)}. Review compares with ${source.pin.branch}.`}</p>
        )}
        <span className="lab">Lives for</span>
        <Segments<Life | 'other' | ''>
          large
          label="Lives for"
          value={ttlMs === undefined ? '' : lifeOf(ttlMs)}
          onChange={(next) => setChosenLife(next === 'other' || next === '' ? undefined : next)}
          choices={[
            { value: 'hour', label: '1 hour' },
            { value: 'day', label: '1 day' },
            { value: 'week', label: '7 days' },
            { value: 'keep', label: 'Keep' },
            ...(typeof defaultMs === 'number' && lifeOf(defaultMs) === 'other'
              ? [{ value: 'other' as const, label: span(defaultMs) }]
              : []),
          ]}
        />
        <p className="hint">{lifeHint(ttlMs)}</p>
        <AccessChoice value={access} onChange={setAccess} />
        <label htmlFor="fork-actor">First actor</label>
        <div className="field field-ink">
          {actor.trim() === '' ? null : <Actor name={actor} small />}
          <input
            id="fork-actor"
            value={actor}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => setActor(event.target.value)}
          />
        </div>
        {error === undefined ? null : (
          <div className="form-wide">
            <ErrorNote id="fork-error" error={error} />
            {error.code === 'open_transactions' ? (
              <Button look="danger" onClick={() => void fork(true)}>
                End them and fork
              </Button>
            ) : null}
          </div>
        )}
      </div>
    </Dialog>
  );
}

function isNameRefused(code: string | undefined): boolean {
  return code === 'name_taken' || code === 'name_invalid';
}

function ParentPick({ parentId, onChange }: { readonly parentId: string; readonly onChange: (id: string) => void }) {
  const branches = useApp((app) => app.branches);
  const pins = useApp((app) => app.pins);
  const items = useMemo(
    () => [
      ...treeRows(branches)
        .filter((row) => !hasEnded(row.branch))
        .map(({ branch: { id, name } }) => ({
          value: id,
          text: name,
          label: <SourceLabel name={name} as="as it is now" />,
        })),
      ...pins.map(({ name, branch }) => ({
        value: pinKey(name),
        text: name,
        label: <SourceLabel name={name} as={`pinned from ${branch}`} />,
      })),
    ],
    [branches, pins],
  );
  return <Pick id="fork-from" label="From" wide value={parentId} items={items} onChange={onChange} />;
}

function SourceLabel({ name, as }: { readonly name: string; readonly as: string }) {
  return (
    <>
      <b>{name}</b> <span className="soft">{as}</span>
    </>
  );
}

/** What is forked: a branch as it is now, or a pin. */
interface Source {
  readonly name: string;
  readonly sizeBytes: number | undefined;
  readonly pin?: Pin;
}

function useSource(key: string): Source | undefined {
  const branch = useApp((app) => branchById(app, key));
  const pin = useApp((app) => app.pins.find(({ name }) => pinKey(name) === key));
  return useMemo(
    () => (pin === undefined ? branch && { name: branch.name, sizeBytes: branch.sizeBytes } : pinSource(pin)),
    [branch, pin],
  );
}

function pinSource(pin: Pin): Source {
  return { name: pin.name, sizeBytes: pinSize(pin).bytes, pin };
}

function lifeHint(ttlMs: number | null | undefined): string {
  if (ttlMs === undefined) return '';
  if (ttlMs === null) return 'Until you discard it.';
  const now = Date.now();
  return `Until ${moment(now + ttlMs, now)}. You are warned before, and changes nobody reviewed are not swept at once.`;
}

/** A copy of big files takes as long as they weigh: the seconds show that it is being worked on. */
function Elapsed() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((now) => now + 1), 1000);
    return () => {
      clearInterval(timer);
    };
  }, []);
  return (
    <>{seconds === 0 ? 'Forking' : `Forking, ${String(seconds)} s. Where disk cannot be shared, files are copied.`}</>
  );
}
