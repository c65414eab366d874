import { useState } from 'react';
import { errorBody } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';

interface Attempt {
  /** True while it runs, and after it went well: the dialog is gone by then. */
  readonly busy: boolean;
  /** Why the last one was refused; undefined again when it is tried anew. */
  readonly error: ErrorBody | undefined;
  /** Runs it, unless it runs already. `onRefused` is told the error too. */
  readonly attempt: (run: () => Promise<void>, onRefused?: (error: ErrorBody) => void) => Promise<void>;
}

/** The one thing that a dialog does before it closes; where it is refused, the dialog stays and can say why. */
export function useAttempt(): Attempt {
  const [error, setError] = useState<ErrorBody>();
  const [busy, setBusy] = useState(false);
  const attempt: Attempt['attempt'] = async (run, onRefused) => {
    if (busy) return;
    setBusy(true);
    setError(undefined);
    try {
      await run();
    } catch (failure) {
      const body = errorBody(failure);
      setBusy(false);
      setError(body);
      onRefused?.(body);
    }
  };
  return { busy, error, attempt };
}
