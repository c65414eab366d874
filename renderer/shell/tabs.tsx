import { Tabs } from 'radix-ui';
import type { ReactNode } from 'react';
import type { BranchRow } from '../../shared/api.ts';
import { StateBanner } from '../branches/state-banner.tsx';
import { TimeLeft } from '../branches/time-left.tsx';
import { Connect } from '../connect/connect.tsx';
import { Data } from '../data/data-tab.tsx';
import { History } from '../history/history.tsx';
import { newRows, useFeed } from '../live/feed.ts';
import { Live } from '../live/live.tsx';
import { Review } from '../review/review-tab.tsx';
import { chooseTab, hasEnded, tabs, useApp } from '../store/app.ts';
import type { Tab } from '../store/app.ts';
import { commands, runCommand } from './commands.ts';
import { Button } from './controls.tsx';
import { Icon } from './icons.tsx';
import { count } from './numbers.ts';

const titles: Readonly<Record<Tab, string>> = {
  live: 'Live',
  review: 'Review',
  data: 'Data',
  connect: 'Connect',
  history: 'History',
};

/** The views of the chosen branch. main has no parent to be reviewed against. */
export function BranchTabs({ branch }: { readonly branch: BranchRow }) {
  const chosen = useApp((app) => app.tab);
  const isMain = branch.parent === undefined;
  const tab = isMain && chosen === 'review' ? 'live' : chosen;
  return (
    <Tabs.Root className="tabs-root" value={tab} onValueChange={(next) => chooseTab(next as Tab)}>
      <div className="tabs">
        <Tabs.List className="tab-list" aria-label="Views">
          {tabs
            .filter((name) => !isMain || name !== 'review')
            .map((name) => (
              <Tabs.Trigger key={name} value={name} className="tab">
                {titles[name]}
                {name === 'live' ? <NewRows branch={branch} /> : null}
                {name === 'review' ? <ReviewCount branch={branch} /> : null}
              </Tabs.Trigger>
            ))}
        </Tabs.List>
        <Lifetime branch={branch} />
      </div>
      {/* Data says it itself, where there is nothing else to see. */}
      {tab === 'data' ? null : <StateBanner branch={branch} />}
      <Panel tab="live">
        <Live key={branch.id} branch={branch} />
      </Panel>
      {isMain ? null : (
        <Panel tab="review">
          <Review key={branch.id} branch={branch} />
        </Panel>
      )}
      <Panel tab="data">
        <Data key={branch.id} branch={branch} />
      </Panel>
      <Panel tab="connect">
        <Connect key={branch.id} branch={branch} />
      </Panel>
      <Panel tab="history">
        <History key={branch.id} branch={branch} />
      </Panel>
    </Tabs.Root>
  );
}

function Panel({ tab, children }: { readonly tab: Tab; readonly children: ReactNode }) {
  return (
    <Tabs.Content value={tab} className="panel" tabIndex={-1} data-pane={tab}>
      {children}
    </Tabs.Content>
  );
}

function NewRows({ branch }: { readonly branch: BranchRow }) {
  const fresh = useFeed(({ feed }) => (feed?.branch === branch.id && feed.loaded ? newRows(feed) : 0));
  return fresh === 0 ? null : <span className="n">{count(fresh)} new</span>;
}

function ReviewCount({ branch }: { readonly branch: BranchRow }) {
  const { counts } = branch;
  const total = counts === undefined ? branch.ahead : counts.added + counts.modified + counts.removed + counts.schema;
  if (total === 0) return null;
  return (
    <>
      <span className="n">{count(total)}</span>
      {counts === undefined || counts.conflicts === 0 ? null : (
        <span className="con-n c-con n">
          <Icon name="conflict" small />
          {count(counts.conflicts)}
          <span className="sr"> {counts.conflicts === 1 ? 'conflict' : 'conflicts'}</span>
        </span>
      )}
    </>
  );
}

function Lifetime({ branch }: { readonly branch: BranchRow }) {
  if (branch.parent === undefined) {
    return (
      <span className="ttl-row">
        <span className="ttl">
          <Icon name="lock" small />
          Protected: no sandbox credential reaches main
        </span>
      </span>
    );
  }
  if (hasEnded(branch)) return <span className="ttl-row">Ended</span>;
  return (
    <span className="ttl-row">
      {branch.note === undefined || branch.state !== 'live' ? (
        <TimeLeft branch={branch} long />
      ) : (
        <span className="ttl soon">{branch.note}</span>
      )}
      {branch.expiresAt === undefined ? null : (
        <>
          <Button onClick={() => runCommand(commands.extend, branch)}>Extend 1 h</Button>
          <Button icon="pin" onClick={() => runCommand(commands.keep, branch)}>
            Keep
          </Button>
        </>
      )}
    </span>
  );
}
