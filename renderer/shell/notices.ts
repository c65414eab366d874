/** What the user is told by the system while the window is out of sight. */
import type { Event, Method } from '../../shared/api.ts';
import type { Desktop, Notice } from '../../shared/desktop.ts';
import { errorBody } from '../../shared/errors.ts';
import { useApp } from '../store/app.ts';
import { onCall, onEngineEvent } from '../store/engine.ts';
import { plural } from './numbers.ts';
import { span } from './time.ts';

/** Who waits for longer than this has looked away. */
const longMs = 5_000;

const jobs: Partial<Record<Method, string>> = {
  'transfer.import': 'import',
  'branches.fork': 'fork',
  'plan.apply': 'adoption',
  'plan.adopt': 'adoption',
  'log.undo': 'undo',
};

/** Tells expiry, new conflicts and the end of long jobs, as long as the window has no focus. Returns how to stop. */
export function startNotices(desktop: Desktop): () => void {
  const tell = (notice: Notice): void => {
    if (!document.hasFocus()) void desktop.notify(notice);
  };
  const stopEvents = onEngineEvent((event) => {
    if (event.type === 'expiry') tell(expiryNotice(event));
  });
  const stopBranches = useApp.subscribe((app, before) => {
    if (app.branches === before.branches) return;
    for (const { id, name, parent = '', counts } of app.branches) {
      const known = before.branches.find((branch) => branch.id === id)?.counts;
      const more = (counts?.conflicts ?? 0) - (known?.conflicts ?? 0);
      if (known === undefined || more <= 0) continue;
      tell({
        title: `${name} and ${parent} disagree`,
        body: `${plural(more, 'new conflict')} to decide.`,
        branch: name,
      });
    }
  });
  const stopCalls = onCall((method, answer) => {
    const job = jobs[method];
    if (job === undefined) return;
    const begun = performance.now();
    const ended = (notice: Notice): void => {
      if (performance.now() - begun >= longMs) tell(notice);
    };
    answer.then(
      () => ended({ title: 'Done', body: `The ${job} has finished.` }),
      (error: unknown) => ended({ title: `The ${job} has failed`, body: errorBody(error).message }),
    );
  });
  return () => {
    stopEvents();
    stopBranches();
    stopCalls();
  };
}

function expiryNotice({ branch, state, at }: Extract<Event, { type: 'expiry' }>): Notice {
  if (state === 'soon')
    return { title: `${branch} expires soon`, body: `${span(Date.parse(at) - Date.now())} left.`, branch };
  return state === 'expired'
    ? { title: `${branch} has expired`, body: 'It can be brought back for a while.', branch }
    : { title: `${branch} is gone`, body: 'Its time in the trash is over.' };
}
