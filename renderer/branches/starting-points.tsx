import { useMemo } from 'react';
import type { Pin } from '../../shared/api.ts';
import { Button } from '../shell/controls.tsx';
import { Icon } from '../shell/icons.tsx';
import { WithContextMenu } from '../shell/menu.tsx';
import type { MenuEntry } from '../shell/menu.tsx';
import { openDialog, pinKey, useApp } from '../store/app.ts';
import { pinOrigin } from './pins.ts';

/** Pins: branches frozen under a name, to be forked from again and again. */
export function StartingPoints({ filter }: { readonly filter: string }) {
  const pins = useApp((app) => app.pins);
  const shown = useMemo(() => {
    const wanted = filter.trim().toLowerCase();
    return pins.filter(({ name }) => name.toLowerCase().includes(wanted));
  }, [pins, filter]);
  if (shown.length === 0) return null;
  return (
    <section className="side-group" aria-labelledby="pins-title">
      <h2 id="pins-title">Starting points</h2>
      <ul>
        {shown.map((pin) => (
          <WithContextMenu key={pin.name} entries={menuEntries(pin)}>
            <li className="side-row">
              <button
                type="button"
                className="side-open"
                title={pinOrigin(pin)}
                onClick={() => openDialog({ kind: 'pinned', pin: pin.name })}
              >
                <Icon name="pin" />
                <span className="cut">{pin.name}</span>
              </button>
              <span className="push quiet side-left">read-only</span>
              <Button
                className="side-back"
                icon="fork"
                onClick={() => openDialog({ kind: 'fork', from: pinKey(pin.name) })}
              >
                Fork<span className="sr"> {pin.name}</span>
              </Button>
            </li>
          </WithContextMenu>
        ))}
      </ul>
    </section>
  );
}

function menuEntries({ name }: Pin): MenuEntry[] {
  return [
    {
      id: 'fork',
      title: `Fork ${name}…`,
      icon: 'fork',
      run: () => openDialog({ kind: 'fork', from: pinKey(name) }),
    },
    { id: 'facts', title: 'What it holds…', icon: 'info', run: () => openDialog({ kind: 'pinned', pin: name }) },
    { id: 'unpin', title: 'Remove…', icon: 'trash', run: () => openDialog({ kind: 'unpin', pin: name }) },
  ];
}
