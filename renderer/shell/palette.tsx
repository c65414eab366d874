import { Dialog as Radix } from 'radix-ui';
import { useId, useMemo, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { chooseBranch, chosenBranch, closeDialog, useApp } from '../store/app.ts';
import { enabledCommands } from './commands.ts';
import { Icon } from './icons.tsx';
import type { IconName } from './icons.tsx';
import { shortcutText } from './keyboard.ts';
import './palette.css';

interface Entry {
  readonly id: string;
  readonly title: string;
  readonly group: string;
  readonly icon: IconName | undefined;
  readonly keys: string | undefined;
  readonly run: () => void;
}

/** Every verb and every branch, found by typing. */
export function Palette() {
  const entries = useEntries();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const listId = useId();
  const found = useMemo(() => entries.filter((entry) => fits(entry, text)), [entries, text]);
  const current = found[Math.min(at, found.length - 1)];

  const run = (entry: Entry): void => {
    closeDialog();
    // After the dialog has given the focus back, so that a command may move it.
    queueMicrotask(entry.run);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) setAt((now) => (Math.min(now, found.length - 1) + step + found.length) % Math.max(1, found.length));
    else if (event.key === 'Enter' && current !== undefined) run(current);
    else return;
    event.preventDefault();
  };
  return (
    <Radix.Root open onOpenChange={(open) => (open ? undefined : closeDialog())}>
      <Radix.Portal>
        <div className="scrim scrim-top">
          <Radix.Content className="palette" aria-describedby={undefined}>
            <Radix.Title className="sr">Commands</Radix.Title>
            <div className="palette-field">
              <Icon name="search" />
              <input
                role="combobox"
                aria-label="Find a command or a branch"
                aria-expanded="true"
                aria-controls={listId}
                aria-activedescendant={current === undefined ? undefined : `${listId}-${current.id}`}
                placeholder="What do you want to do?"
                value={text}
                onChange={(event) => {
                  setText(event.target.value);
                  setAt(0);
                }}
                onKeyDown={onKeyDown}
              />
            </div>
            <ul id={listId} className="palette-list" role="listbox" aria-label="Commands">
              {found.map((entry, index) => (
                <li
                  key={entry.id}
                  id={`${listId}-${entry.id}`}
                  role="option"
                  className="palette-entry"
                  aria-selected={entry === current}
                  ref={(element) => {
                    if (entry === current) element?.scrollIntoView({ block: 'nearest' });
                  }}
                  onMouseMove={() => setAt(index)}
                  onClick={() => run(entry)}
                >
                  {entry.icon === undefined ? <span className="menu-gap" /> : <Icon name={entry.icon} />}
                  <span className="cut">{entry.title}</span>
                  <span className="quiet">{entry.group}</span>
                  {entry.keys === undefined ? null : <kbd>{shortcutText(entry.keys)}</kbd>}
                </li>
              ))}
            </ul>
            {found.length === 0 ? <p className="palette-none">Nothing is called that.</p> : null}
          </Radix.Content>
        </div>
      </Radix.Portal>
    </Radix.Root>
  );
}

function useEntries(): Entry[] {
  const app = useApp();
  return useMemo(() => {
    const branch = chosenBranch(app);
    if (branch === undefined) return [];
    const verbs = enabledCommands(branch, app)
      .filter((command) => command.id !== 'palette')
      .map((command) => ({
        id: command.id,
        title: command.title(branch),
        group: command.ofBranch ? branch.name : '',
        icon: command.icon,
        keys: command.keys[0],
        run: () => command.run(branch),
      }));
    const places = app.branches
      .filter((other) => other.id !== branch.id && other.state !== 'trashed')
      .map((other) => ({
        id: `branch-${other.id}`,
        title: `Open ${other.name}`,
        group: 'Branch',
        icon: undefined,
        keys: undefined,
        run: () => chooseBranch(other.id),
      }));
    return [...verbs, ...places];
  }, [app]);
}

/** Each word typed begins a word of the title, or is somewhere in it when longer. */
function fits(entry: Entry, text: string): boolean {
  const title = `${entry.title} ${entry.group}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => title.includes(word));
}
