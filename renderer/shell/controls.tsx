import { RadioGroup } from 'radix-ui';
import { useEffect, useRef, useState } from 'react';
import type { ComponentProps, ReactNode } from 'react';
import { announce } from '../store/app.ts';
import { copyText } from './clipboard.ts';
import { Icon } from './icons.tsx';
import type { IconName } from './icons.tsx';
import { shortcutText } from './keyboard.ts';

interface ButtonProps extends ComponentProps<'button'> {
  readonly look?: 'plain' | 'primary' | 'bare' | 'conflict' | 'danger';
  readonly size?: 'small' | 'medium';
  readonly icon?: IconName | undefined;
  readonly keys?: string | undefined;
}

const looks = { plain: '', primary: 'btn-1', bare: 'btn-0', conflict: 'btn-con', danger: 'btn-rem' } as const;

export function Button({ look = 'plain', size = 'small', icon, keys, children, className, ...rest }: ButtonProps) {
  const classes = ['btn', looks[look], size === 'small' ? 'btn-s' : '', className ?? ''].filter((name) => name !== '');
  return (
    <button type="button" className={classes.join(' ')} {...rest}>
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
      {keys === undefined ? null : <kbd aria-hidden="true">{shortcutText(keys)}</kbd>}
    </button>
  );
}

/** A button that shows only an icon; its label is read out and shown on hover. */
export function IconButton({
  label,
  icon,
  look = 'plain',
  keys,
  className,
  ...rest
}: Omit<ButtonProps, 'children'> & { readonly label: string; readonly icon: IconName }) {
  const title = keys === undefined ? label : `${label}, ${shortcutText(keys)}`;
  return (
    <button
      type="button"
      className={['btn btn-s btn-icon', looks[look], className ?? ''].join(' ')}
      aria-label={label}
      title={title}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
}

/** Copies, then shows a tick for 1.5 s at the same width and says so. */
export function CopyButton({
  text,
  children,
  label,
  iconOnly = false,
  ...rest
}: Omit<ButtonProps, 'children' | 'icon' | 'onClick'> & {
  readonly text: () => string | Promise<string>;
  readonly children?: ReactNode;
  /** What is copied, in a word or two. */
  readonly label: string;
  readonly iconOnly?: boolean;
}) {
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async (): Promise<void> => {
    const value = await text();
    if (!(await copyText(value))) return;
    announce(`Copied ${label}`);
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setCopied(false), 1500);
  };
  const icon = copied ? 'check' : 'copy';
  if (iconOnly) return <IconButton label={`Copy ${label}`} icon={icon} onClick={() => void copy()} {...rest} />;
  return (
    <Button icon={icon} onClick={() => void copy()} aria-label={`Copy ${label}`} {...rest}>
      {children}
    </Button>
  );
}

export interface Choice<T extends string> {
  readonly value: T;
  readonly label: ReactNode;
}

/** A row of choices of which one holds: arrows move the choice. */
export function Segments<T extends string>({
  label,
  value,
  choices,
  onChange,
  large = false,
}: {
  readonly label: string;
  readonly value: T;
  readonly choices: readonly Choice<T>[];
  readonly onChange: (value: T) => void;
  readonly large?: boolean;
}) {
  return (
    <RadioGroup.Root
      className={large ? 'seg seg-l' : 'seg'}
      aria-label={label}
      orientation="horizontal"
      value={value}
      onValueChange={(next) => onChange(next as T)}
    >
      {choices.map((choice) => (
        <RadioGroup.Item key={choice.value} value={choice.value}>
          {choice.label}
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}

/** A box for a thing and its parts: all of them, none, or some. */
export function TriStateBox({
  state,
  label,
  onToggle,
  disabled = false,
  tabIndex = 0,
}: {
  readonly state: 'on' | 'off' | 'part';
  readonly label: string;
  readonly onToggle: () => void;
  readonly disabled?: boolean;
  readonly tabIndex?: number;
}) {
  return (
    <button
      type="button"
      role="checkbox"
      className={`cb ${state}`}
      aria-checked={state === 'part' ? 'mixed' : state === 'on'}
      aria-label={label}
      aria-disabled={disabled}
      tabIndex={tabIndex}
      onClick={(event) => {
        event.stopPropagation();
        if (!disabled) onToggle();
      }}
      onKeyDown={(event) => {
        // Enter opens the row; Space is the box's.
        if (event.key === ' ') event.stopPropagation();
      }}
    >
      <svg viewBox="0 0 12 12" aria-hidden="true">
        <path className="t" d="M2.5 6.2l2.4 2.4 4.6-5" />
        <path className="p" d="M3 6h6" />
      </svg>
    </button>
  );
}

/** The quiet line that says a hatched part is not known. */
export function Hatch() {
  return <span className="hatch-box hatch" aria-hidden="true" />;
}
