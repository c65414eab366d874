import { useEffect, useMemo, useState } from 'react';
import { commands, runCommand } from '../shell/commands.ts';
import { Button, IconButton } from '../shell/controls.tsx';
import { Icon } from '../shell/icons.tsx';
import { chosenBranch, isEmpty, mainBranch, useApp } from '../store/app.ts';
import { Tour } from '../start/tour.tsx';
import { onEngineEvent } from '../store/engine.ts';
import { EndedBranches } from './ended.tsx';
import { warnOfExpiry } from './expiry-toast.ts';
import { treeRows } from './order.ts';
import type { Order } from './order.ts';
import { StartingPoints } from './starting-points.tsx';
import { BranchTree } from './tree.tsx';
import './branches.css';

export function Sidebar() {
  const branches = useApp((app) => app.branches);
  const loaded = useApp((app) => app.loaded);
  const [filter, setFilter] = useState('');
  const [order, setOrder] = useState<Order>('forked');
  const activeAt = useApp((app) => (order === 'active' ? app.activeAt : undefined));
  const rows = useMemo(() => treeRows(branches, filter, activeAt), [branches, filter, activeAt]);
  useEffect(() => onEngineEvent(warnOfExpiry), []);
  const empty = useApp(isEmpty);
  return (
    <nav className="side" aria-label="Branches" data-pane="branches">
      <div className="side-tool">
        <div className="field field-s">
          <Icon name="search" />
          <input
            data-filter
            placeholder="Filter"
            aria-label="Filter branches"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
            onKeyDown={(event) => (event.key === 'Escape' ? setFilter('') : undefined)}
          />
        </div>
        <IconButton
          look="bare"
          icon="clock"
          label="Last written to first"
          aria-pressed={order === 'active'}
          onClick={() => setOrder(order === 'active' ? 'forked' : 'active')}
        />
        <Button icon="fork" keys={commands.fork.keys[0]} disabled={empty || !loaded} onClick={forkChosen}>
          Fork
        </Button>
      </div>
      <div className="side-scroll">
        <BranchTree rows={rows} />
        {filter !== '' && rows.length <= 1 ? <p className="side-none">No branch is called that.</p> : null}
        <StartingPoints filter={filter} />
        <EndedBranches />
      </div>
      <Tour />
    </nav>
  );
}

/** Forks what is being looked at; main where that has ended. */
function forkChosen(): void {
  const app = useApp.getState();
  const chosen = chosenBranch(app);
  const main = mainBranch(app.branches);
  const from = chosen !== undefined && commands.fork.enabled(chosen) ? chosen : main;
  runCommand(commands.fork, from);
}
