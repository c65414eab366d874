import { useEffect } from 'react';
import type { LogEntry } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import { showToast, useApp } from '../store/app.ts';
import { isConnectionLoss, loadLog } from '../store/engine.ts';

/** The log of all branches, newest first, asked for when it is first shown; undefined until it has come. */
export function useLog(): readonly LogEntry[] | undefined {
  const log = useApp((app) => app.log);
  // An undo, or a branch that is brought back, marks an older entry, which no event tells.
  const newest = log?.[0];
  const undone = newest?.kind === 'undo' || newest?.kind === 'restore' ? newest.entry : undefined;
  useEffect(() => {
    loadLog().catch((error: unknown) => {
      const { message, hint } = errorBody(error);
      if (!isConnectionLoss(error)) showToast({ tone: 'problem', text: message, hint });
    });
  }, [undone]);
  return log;
}
