import { useState } from 'react';
import type { Output } from '../../shared/api.ts';
import { errorBody, redact } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { plural } from '../shell/numbers.ts';
import { mainBranch, openDialog, showToast, useApp } from '../store/app.ts';
import type { Progress } from '../store/app.ts';
import { call, refreshBranches } from '../store/engine.ts';
import { useTour } from './tour.ts';

export interface ImportJob {
  readonly running: string | undefined;
  readonly progress: Progress | undefined;
  readonly error: ErrorBody | undefined;
  readonly problems: Output<'transfer.import'>['problems'];
  /** Imports into main; true when all went well. */
  readonly run: (source: string, place?: { readonly db?: string; readonly collection?: string }) => Promise<boolean>;
}

let jobs = 0;

/** One import at a time, with its progress and what came of it. */
export function useImport(): ImportJob {
  const [job, setJob] = useState<string>();
  const [running, setRunning] = useState<string>();
  const [error, setError] = useState<ErrorBody>();
  const [problems, setProblems] = useState<Output<'transfer.import'>['problems']>([]);
  const progress = useApp((app) => (job === undefined ? undefined : app.progress[job]));
  const run: ImportJob['run'] = async (source, place = {}) => {
    jobs += 1;
    const id = `import-${String(Date.now())}-${String(jobs)}`;
    setJob(id);
    setRunning(source);
    setError(undefined);
    setProblems([]);
    try {
      const into = mainBranch(useApp.getState().branches)?.name ?? 'main';
      const answer = await withProgress(id, () => call('transfer.import', { source, into, job: id, ...place }));
      setProblems(answer.problems);
      if (answer.collections.length > 0) useApp.setState({ filled: true });
      void refreshWhenCounted();
      const documents = answer.collections.reduce((sum, one) => sum + one.documents, 0);
      showToast({
        tone: answer.problems.length === 0 ? 'done' : 'problem',
        text: `Imported ${plural(documents, 'document')} in ${plural(answer.collections.length, 'collection')}`,
        ...(answer.problems.length === 0 ? {} : { hint: plural(answer.problems.length, 'problem') }),
        // The next step, where nothing was forked yet.
        actions:
          useApp.getState().branches.some(({ parent }) => parent !== undefined) || useTour.getState().step
            ? []
            : [
                {
                  label: 'Fork main',
                  run: () => openDialog({ kind: 'fork', from: mainBranch(useApp.getState().branches)?.id ?? 'main' }),
                },
              ],
      });
      return answer.problems.length === 0;
    } catch (failure) {
      const body = errorBody(failure);
      setError({ ...body, message: redact(body.message) });
      return false;
    } finally {
      setRunning(undefined);
    }
  };
  return { running, progress, error, problems, run };
}

/** Whether a source is a file, whose documents need a database and a collection to go to. */
export function isFile(source: string): boolean {
  return source !== '' && !/^mongodb(\+srv)?:\/\//i.test(source) && !source.startsWith('sample:');
}

/** Runs a job of that id; its progress is forgotten when it has ended. */
export async function withProgress<T>(job: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } finally {
    useApp.setState((app) => ({
      progress: Object.fromEntries(Object.entries(app.progress).filter(([key]) => key !== job)),
    }));
  }
}

/** The engine counts whole databases every few seconds only: asks until main's numbers are those after the import. */
export async function refreshWhenCounted(): Promise<void> {
  const before = mainBranch(useApp.getState().branches)?.documents;
  for (let tries = 0; tries < 8; tries += 1) {
    await refreshBranches();
    if (mainBranch(useApp.getState().branches)?.documents !== before) return;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
