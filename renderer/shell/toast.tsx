import { useEffect, useState } from 'react';
import { dismissToast, useApp } from '../store/app.ts';
import { IconButton } from './controls.tsx';
import { Icon } from './icons.tsx';

const shownMs = 10_000;

/** Bottom right, one at a time, for ten seconds that stop while it is hovered or focused. */
export function ToastPlace() {
  const toast = useApp((app) => app.toast);
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (toast === undefined || held) return;
    const timer = setTimeout(() => dismissToast(toast.id), shownMs);
    return () => {
      clearTimeout(timer);
    };
  }, [toast, held]);
  return (
    <div className="toast-place" role="status" aria-live="polite">
      {toast === undefined ? null : (
        <div
          className="toast"
          key={toast.id}
          onMouseEnter={() => setHeld(true)}
          onMouseLeave={() => setHeld(false)}
          onFocus={() => setHeld(true)}
          onBlur={() => setHeld(false)}
        >
          <Icon name={toast.tone === 'done' ? 'check' : 'alert'} />
          <span className="toast-text">
            {toast.text}
            {toast.hint === undefined ? null : <span className="toast-hint">{toast.hint}</span>}
          </span>
          {toast.actions.map((action) => (
            <button
              key={action.label}
              type="button"
              className="toast-action"
              onClick={() => {
                dismissToast(toast.id);
                action.run();
              }}
            >
              {action.label}
            </button>
          ))}
          <IconButton label="Dismiss" icon="close" look="bare" onClick={() => dismissToast(toast.id)} />
        </div>
      )}
    </div>
  );
}
