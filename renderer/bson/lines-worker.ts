/** Draws large documents beside the window's thread, so that neither typing nor scrolling waits for them. */
import { errorBody } from '../../shared/errors.ts';
import { linesOf } from './lines-job.ts';
import type { LinesJob } from './lines-job.ts';

export interface LinesAnswer {
  readonly job: number;
  readonly lines?: ReturnType<typeof linesOf>;
  readonly error?: string;
}

addEventListener('message', ({ data }: MessageEvent<{ readonly job: number; readonly work: LinesJob }>) => {
  const { job, work } = data;
  try {
    answer({ job, lines: linesOf(work) });
  } catch (error) {
    answer({ job, error: errorBody(error).message });
  }
});

/** The types are those of a page, where the second argument is an origin. */
function answer(message: LinesAnswer): void {
  (postMessage as (message: LinesAnswer) => void)(message);
}
