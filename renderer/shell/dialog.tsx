import { Dialog as Radix } from 'radix-ui';
import type { ReactNode, RefObject } from 'react';
import { closeDialog } from '../store/app.ts';
import './dialog.css';

/**
 * A modal dialog: focus is kept inside, the window behind is inert, Esc closes, focus goes back to where it was.
 * The ground behind is our own element: the library's would add a style element, which the page's policy forbids.
 */
export function Dialog({
  title,
  lead,
  width,
  initialFocus,
  children,
  foot,
  busy = false,
  onClose = closeDialog,
}: {
  readonly title: ReactNode;
  readonly lead?: ReactNode;
  /** CSS pixels. */
  readonly width: 480 | 560 | 640 | 856;
  readonly initialFocus?: RefObject<HTMLElement | null>;
  readonly children: ReactNode;
  readonly foot?: ReactNode;
  /** While true, Esc and a click outside do nothing: something runs that must be answered. */
  readonly busy?: boolean;
  readonly onClose?: () => void;
}) {
  return (
    <Radix.Root open onOpenChange={(open) => (open || busy ? undefined : onClose())}>
      <Radix.Portal>
        <div className="scrim">
          <Radix.Content
            className={`dialog dialog-${String(width)}`}
            onOpenAutoFocus={(event) => {
              const target = initialFocus?.current;
              if (target === null || target === undefined) return;
              event.preventDefault();
              target.focus();
              if (target instanceof HTMLInputElement) target.select();
            }}
            {...(lead === undefined ? { 'aria-describedby': undefined } : {})}
          >
            <div className="dialog-head">
              <Radix.Title>{title}</Radix.Title>
              {lead === undefined ? null : <Radix.Description>{lead}</Radix.Description>}
            </div>
            <div className="dialog-body">{children}</div>
            {foot === undefined ? null : <div className="dialog-foot">{foot}</div>}
          </Radix.Content>
        </div>
      </Radix.Portal>
    </Radix.Root>
  );
}

/**
 * What went wrong and what to do about it, at the place where it was asked for. With an `id` the field whose mistake it is
 * can be described by it.
 */
export function ErrorNote({
  id,
  error,
}: {
  readonly id?: string;
  readonly error: { readonly message: string; readonly hint?: string | undefined };
}) {
  return (
    <div id={id} className="error-note" role="alert">
      <p>{error.message}</p>
      {error.hint === undefined ? null : <p className="soft">{error.hint}</p>}
    </div>
  );
}
