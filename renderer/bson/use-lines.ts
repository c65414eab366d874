import { useEffect, useMemo, useState } from 'react';
import type { Line } from './line.ts';
import { linesOf } from './lines-job.ts';
import type { LinesJob } from './lines-job.ts';
import type { LinesAnswer } from './lines-worker.ts';

/** Characters of base64 up to which a document is drawn at once: some ten milliseconds. */
const atOnceChars = 160_000;

export interface DrawnLines {
  /** Undefined until the first answer for a large document. */
  readonly lines: readonly Line[] | undefined;
  readonly error?: string;
}

/** The lines of a document: a small one at once, a large one from a thread of its own. `job` must keep its identity. */
export function useLines(job: LinesJob): DrawnLines {
  const isLarge = sizeOf(job) > atOnceChars;
  const small = useMemo(() => (isLarge ? undefined : { lines: linesOf(job) }), [job, isLarge]);
  const [large, setLarge] = useState<{ readonly of: LinesJob; readonly drawn: DrawnLines }>();
  useEffect(() => {
    if (!isLarge) return;
    return inThread(job, (drawn) => setLarge({ of: job, drawn }));
  }, [job, isLarge]);
  if (small !== undefined) return small;
  // A fold that was opened keeps the lines of before until the new ones are there.
  const isSame = large !== undefined && large.of.base === job.base && large.of.target === job.target;
  return isSame && large.of.form === job.form ? large.drawn : { lines: undefined };
}

function sizeOf({ base, target, fields = [] }: LinesJob): number {
  const sides = fields.reduce(
    (sum, field) => sum + (field.base?.length ?? 0) + (field.parent?.length ?? 0) + (field.branch?.length ?? 0),
    0,
  );
  return (base?.length ?? 0) + (target?.length ?? 0) + sides;
}

let thread: Worker | undefined;
let jobs = 0;

/** Answers once; a job that nobody waits for any more ends with its thread. */
function inThread(work: LinesJob, done: (drawn: DrawnLines) => void): () => void {
  thread ??= new Worker(new URL('./lines-worker.ts', import.meta.url), { type: 'module' });
  const mine = thread;
  jobs += 1;
  const job = jobs;
  let waits = true;
  const onMessage = ({ data }: MessageEvent<LinesAnswer>): void => {
    if (data.job !== job) return;
    finish();
    done({ lines: data.lines, ...(data.error === undefined ? {} : { error: data.error }) });
  };
  const finish = (): void => {
    waits = false;
    mine.removeEventListener('message', onMessage);
  };
  mine.addEventListener('message', onMessage);
  mine.postMessage({ job, work });
  return () => {
    if (!waits) return;
    finish();
    mine.terminate();
    if (thread === mine) thread = undefined;
  };
}
