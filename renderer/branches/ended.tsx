import { useMemo } from 'react';
import { commands, runCommand } from '../shell/commands.ts';
import { Button } from '../shell/controls.tsx';
import { Icon } from '../shell/icons.tsx';
import { span, useNow } from '../shell/time.ts';
import { chooseBranch, chosenBranch, useApp } from '../store/app.ts';
import { endedBranches } from './order.ts';

/** Expired and discarded branches, until they are swept. */
export function EndedBranches() {
  const branches = useApp((app) => app.branches);
  const chosen = useApp((app) => chosenBranch(app)?.id);
  const ended = useMemo(() => endedBranches(branches), [branches]);
  const now = useNow(30_000);
  if (ended.length === 0) return null;
  return (
    <section className="side-group" aria-labelledby="ended-title">
      <h2 id="ended-title">Ended, can be brought back</h2>
      <ul>
        {ended.map((branch) => {
          const left = branch.goneAt === undefined ? undefined : Math.max(0, Date.parse(branch.goneAt) - now);
          const word = branch.state === 'expired' ? 'expired' : 'discarded';
          return (
            <li key={branch.id} className={branch.id === chosen ? 'side-row is-chosen' : 'side-row'}>
              <button type="button" className="side-open" onClick={() => chooseBranch(branch.id, 'history')}>
                <Icon name="buffer-stop" />
                <span className="cut">{branch.name}</span>
              </button>
              <span className="push quiet side-left">
                {word}
                {left === undefined ? '' : `, ${span(left)} left`}
              </span>
              <Button className="side-back" onClick={() => runCommand(commands.bringBack, branch)}>
                Bring back<span className="sr"> {branch.name}</span>
              </Button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
