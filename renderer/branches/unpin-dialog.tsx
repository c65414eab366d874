import { useAttempt } from '../shell/attempt.ts';
import { ConfirmDialog } from '../shell/confirm-dialog.tsx';
import { ErrorNote } from '../shell/dialog.tsx';
import { closeDialog, pinByName, showToast, useApp } from '../store/app.ts';
import { call } from '../store/engine.ts';
import { pinWords } from './pins.ts';

/** A pin's files go for good: says so, and what they hold. Cancel is the default. */
export function UnpinDialog({ name }: { readonly name: string }) {
  const pin = useApp((app) => pinByName(app, name));
  const { busy, error, attempt } = useAttempt();
  if (pin === undefined) return null;
  const remove = async (): Promise<void> => {
    await call('pins.remove', { pin: name });
    closeDialog();
    showToast({ tone: 'done', text: `Removed the starting point ${name}` });
  };
  return (
    <ConfirmDialog
      title={`Remove ${name}?`}
      lead="Its files go at once and cannot be brought back."
      verb={busy ? 'Removing' : 'Remove'}
      icon="trash"
      busy={busy}
      onConfirm={() => void attempt(remove)}
    >
      <div className="dialog-text">
        <p>{`It holds ${pinWords(pin)}, as ${pin.branch} had them then.`}</p>
        <p className="soft">{`${pin.branch} and everything that was forked from ${name} keep their own data.`}</p>
        {error === undefined ? null : <ErrorNote error={error} />}
      </div>
    </ConfirmDialog>
  );
}
