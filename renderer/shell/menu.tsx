import { ContextMenu, DropdownMenu } from 'radix-ui';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Icon } from './icons.tsx';
import type { IconName } from './icons.tsx';
import { shortcutText } from './keyboard.ts';
import './menu.css';

export interface MenuEntry {
  readonly id: string;
  readonly title: string;
  readonly icon?: IconName | undefined;
  readonly keys?: string | undefined;
  readonly run: () => void;
}

/** Right-click or Shift+F10 on `children` opens the entries. */
export function WithContextMenu({
  entries,
  children,
}: {
  readonly entries: readonly MenuEntry[];
  readonly children: ReactNode;
}) {
  const [home, setHome] = useState<HTMLElement | null>(null);
  return (
    <ContextMenu.Root modal={false} onOpenChange={() => setHome(menuHome(null))}>
      <ContextMenu.Trigger asChild>{children}</ContextMenu.Trigger>
      <ContextMenu.Portal container={home}>
        <ContextMenu.Content className="menu">
          {entries.map((entry) => (
            <ContextMenu.Item key={entry.id} className="menu-item" onSelect={entry.run}>
              <MenuLine {...entry} />
            </ContextMenu.Item>
          ))}
        </ContextMenu.Content>
      </ContextMenu.Portal>
    </ContextMenu.Root>
  );
}

/** Menus open inside a landmark: in the dialog that holds their button, which alone can be used then, else in the main area. */
function menuHome(trigger: HTMLElement | null): HTMLElement | null {
  return trigger?.closest<HTMLElement>('[role=dialog]') ?? document.querySelector('main');
}

function MenuLine({ title, icon, keys }: MenuEntry) {
  return (
    <>
      {icon === undefined ? <span className="menu-gap" /> : <Icon name={icon} />}
      <span className="cut">{title}</span>
      {keys === undefined ? null : <kbd>{shortcutText(keys)}</kbd>}
    </>
  );
}

export interface PickItem {
  readonly value: string;
  readonly label: ReactNode;
  readonly text: string;
}

/** A button that shows what is chosen and opens the list of choices. */
export function Pick({
  label,
  value,
  items,
  onChange,
  wide = false,
  id,
}: {
  /** Names the choice for a screen reader. */
  readonly label: string;
  readonly value: string;
  readonly items: readonly PickItem[];
  readonly onChange: (value: string) => void;
  readonly wide?: boolean;
  readonly id?: string;
}) {
  const chosen = items.find((item) => item.value === value);
  const [trigger, setTrigger] = useState<HTMLElement | null>(null);
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger
        id={id}
        ref={setTrigger}
        className={wide ? 'field field-ink select' : 'btn btn-s'}
        aria-label={`${label}: ${chosen?.text ?? value}`}
      >
        <span className="cut pick-label">{chosen?.label ?? value}</span>
        <Icon name="choose" small />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal container={menuHome(trigger)}>
        <DropdownMenu.Content className="menu" align="start" sideOffset={4}>
          <DropdownMenu.RadioGroup value={value} onValueChange={onChange}>
            {items.map((item) => (
              <DropdownMenu.RadioItem key={item.value} value={item.value} className="menu-item" textValue={item.text}>
                <span className="menu-gap">
                  <DropdownMenu.ItemIndicator>
                    <Icon name="check" />
                  </DropdownMenu.ItemIndicator>
                </span>
                <span className="cut">{item.label}</span>
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
