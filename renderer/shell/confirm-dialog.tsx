import { useRef } from 'react';
import type { ReactNode } from 'react';
import { closeDialog } from '../store/app.ts';
import { Button } from './controls.tsx';
import { Dialog } from './dialog.tsx';
import type { IconName } from './icons.tsx';

/** Asks before something is taken away or put back: Cancel has the keyboard. */
export function ConfirmDialog({
  title,
  lead,
  width = 480,
  verb,
  icon,
  busy,
  ready = true,
  onConfirm,
  other,
  children,
}: {
  readonly title: string;
  readonly lead: string;
  /** CSS pixels. */
  readonly width?: 480 | 560;
  /** On the button that does it. */
  readonly verb: string;
  readonly icon: IconName;
  /** While true nothing can be pressed, Cancel neither. */
  readonly busy: boolean;
  /** Whether there is something to confirm yet. */
  readonly ready?: boolean;
  readonly onConfirm: () => void;
  /** A further choice, at the left. */
  readonly other?: ReactNode;
  readonly children: ReactNode;
}) {
  const cancel = useRef<HTMLButtonElement>(null);
  return (
    <Dialog
      title={title}
      lead={lead}
      width={width}
      initialFocus={cancel}
      busy={busy}
      foot={
        <>
          {other}
          <span className="push" />
          <Button size="medium" ref={cancel} onClick={closeDialog} disabled={busy}>
            Cancel <kbd aria-hidden="true">Esc</kbd>
          </Button>
          <Button size="medium" look="danger" icon={icon} disabled={!ready || busy} onClick={onConfirm}>
            {verb}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
