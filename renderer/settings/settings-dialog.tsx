import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import type { Input, SettingsState } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { Button, CopyButton, Segments } from '../shell/controls.tsx';
import { Dialog, ErrorNote } from '../shell/dialog.tsx';
import { setSingleKeys, useSingleKeys } from '../shell/single-keys.ts';
import { setTheme, useTheme } from '../shell/theme.ts';
import { closeDialog } from '../store/app.ts';
import { call, isConnectionLoss } from '../store/engine.ts';
import { lifeOf, lives, memoryChoices, sourceWords } from './choices.ts';
import './settings.css';

/** What a person sets: each change holds at once. */
export function SettingsDialog() {
  const [state, setState] = useState<SettingsState>();
  const [error, setError] = useState<ErrorBody>();
  const done = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    call('settings.get', {}).then(setState, (failure: unknown) => {
      if (!isConnectionLoss(failure)) setError(errorBody(failure));
    });
  }, []);
  const save = async (change: Input<'settings.set'>): Promise<boolean> => {
    try {
      setState(await call('settings.set', change));
      setError(undefined);
      return true;
    } catch (failure) {
      setError(errorBody(failure));
      return false;
    }
  };
  return (
    <Dialog
      title="Settings"
      lead="Changes hold at once."
      width={640}
      initialFocus={done}
      foot={
        <>
          <CopyButton
            size="medium"
            label="diagnostics"
            text={async () => (await call('engine.diagnostics', {})).text}
            title="Versions, states, sizes and the end of the log: no data, no names, no passwords"
          >
            Copy diagnostics
          </CopyButton>
          <span className="push" />
          <Button look="primary" size="medium" ref={done} onClick={closeDialog}>
            Done
          </Button>
        </>
      }
    >
      <div className="settings" aria-busy={state === undefined}>
        <Appearance />
        {state === undefined ? null : (
          <>
            <Sandboxes state={state} save={save} />
            <Server state={state} save={save} />
            <Setting name="Data folder">
              <div className="setting-line">
                <span className="mono cut selectable" title={state.data}>
                  {state.data}
                </span>
                <CopyButton label="the path of the data folder" text={() => state.data}>
                  Copy
                </CopyButton>
              </div>
              <p className="hint">
                Branches, history and plans lie here. Another one is opened with --data or FORKYARD_DATA.
              </p>
            </Setting>
          </>
        )}
        {error === undefined ? null : <ErrorNote error={error} />}
      </div>
    </Dialog>
  );
}

function Setting({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <section className="setting" aria-label={name}>
      <h3>{name}</h3>
      <div>{children}</div>
    </section>
  );
}

function Appearance() {
  const theme = useTheme((state) => state.theme);
  const singleKeys = useSingleKeys((state) => state.on);
  return (
    <>
      <Setting name="Theme">
        <Segments
          large
          label="Theme"
          value={theme}
          onChange={setTheme}
          choices={[
            { value: 'system', label: 'As the system' },
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
        />
      </Setting>
      <Setting name="Single-letter keys">
        <Segments
          large
          label="Single-letter keys"
          value={singleKeys ? 'on' : 'off'}
          onChange={(next) => setSingleKeys(next === 'on')}
          choices={[
            { value: 'on', label: 'On' },
            { value: 'off', label: 'Off' },
          ]}
        />
        <p className="hint">j k a x u in a review, Space in the feed. Off keeps stray keys from doing anything.</p>
      </Setting>
    </>
  );
}

interface Part {
  readonly state: SettingsState;
  readonly save: (change: Input<'settings.set'>) => Promise<boolean>;
}

function Sandboxes({ state, save }: Part) {
  const { settings } = state;
  const life = lifeOf(settings.defaultTtlMs);
  return (
    <>
      <Setting name="A sandbox lives for">
        <Segments
          large
          label="A sandbox lives for"
          value={life}
          onChange={(next) => void save({ defaultTtlMs: next === 'other' ? settings.defaultTtlMs : lives[next] })}
          choices={[
            { value: 'hour', label: '1 hour' },
            { value: 'day', label: '1 day' },
            { value: 'week', label: '7 days' },
            { value: 'keep', label: 'Keep' },
            ...(life === 'other' ? [{ value: 'other' as const, label: 'As set by command' }] : []),
          ]}
        />
        <p className="hint">Unless the fork says otherwise, here and on the command line.</p>
      </Setting>
      <Setting name="Memory of a branch">
        <Segments
          large
          label="Memory of a branch"
          value={String(settings.cacheMB)}
          onChange={(next) => void save({ cacheMB: Number(next) })}
          choices={memoryChoices(settings.cacheMB)}
        />
        <p className="hint">The cache of its server, for those that start from now on. Running ones keep theirs.</p>
      </Setting>
    </>
  );
}

function Server({ state, save }: Part) {
  const { mongod, settings, mongodByEnvironment } = state;
  const [path, setPath] = useState(settings.mongod ?? '');
  const desktop = window.forkyard;
  const [saved, setSaved] = useState(false);
  const changed = path.trim() !== (settings.mongod ?? '');
  const use = async (): Promise<void> => {
    setSaved(await save({ mongod: path.trim() === '' ? null : path.trim() }));
  };
  return (
    <Setting name="mongod">
      <p className="setting-fact">
        Version {mongod.version}, {sourceWords(mongod.source, mongodByEnvironment)}
      </p>
      <p className="mono soft small cut selectable" title={mongod.path}>
        {mongod.path}
      </p>
      {mongodByEnvironment ? (
        <p className="hint">FORKYARD_MONGOD names it, which goes before any setting.</p>
      ) : (
        <>
          <div className="setting-line">
            <div className="field field-ink">
              <input
                className="mono"
                aria-label="Path of another mongod"
                placeholder="Found by Forkyard; or the path of another"
                spellCheck={false}
                value={path}
                onChange={(event) => {
                  setPath(event.target.value);
                  setSaved(false);
                }}
                onKeyDown={(event) => (event.key === 'Enter' && changed ? void use() : undefined)}
              />
            </div>
            {desktop === undefined ? null : (
              <Button size="medium" onClick={() => void desktop.chooseFiles().then(([file]) => file && setPath(file))}>
                Choose
              </Button>
            )}
            <Button size="medium" disabled={!changed} onClick={() => void use()}>
              Use
            </Button>
          </div>
          <p className="hint" role="status">
            {saved ? 'Tried and kept. It is used from the next start of the engine on.' : 'Version 6.0 or newer.'}
          </p>
        </>
      )}
    </Setting>
  );
}
