import { ContextMenu, DropdownMenu } from 'radix-ui';
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
  return (
    <ContextMenu.Root modal={false}>
      <ContextMenu.Trigger asChild>{children}</ContextMenu.Trigger>
      <ContextMenu.Portal>
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
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger
        id={id}
        className={wide ? 'field field-ink select' : 'btn btn-s'}
        aria-label={`${label}: ${chosen?.text ?? value}`}
      >
        <span className="cut pick-label">{chosen?.label ?? value}</span>
        <Icon name="choose" small />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
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
