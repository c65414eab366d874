import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import type { BranchRow, Change } from '../../shared/api.ts';
import { count, plural } from '../shell/numbers.ts';
import { ErrorNote } from '../shell/dialog.tsx';
import { DocumentBanner, FeedBanner, LagBanner } from './banner.tsx';
import { ChangeDetail } from './detail.tsx';
import { FeedFilters } from './filters.tsx';
import { FeedList } from './feed-list.tsx';
import { followBranch, rereadChange, runningImport, useFeed } from './feed.ts';
import type { Feed } from './feed.ts';
import { isDocumentChange } from './kinds.ts';
import { feedRows, noFilter } from './rows.ts';
import type { FeedFilter } from './rows.ts';
import { useFiltered } from './search.ts';
import { ActivityTrack } from './track.tsx';
import { takeDocumentRequest } from './show-in-live.ts';
import type { DocumentRef } from './show-in-live.ts';
import { useDocumentHistory } from './document-history.ts';
import { NetEffect } from './net-effect.tsx';
import type { LiveView } from './filters.tsx';
import { useRoomKeys } from '../shell/room-keys.ts';
import { openDialog } from '../store/app.ts';
import './live.css';

const none: readonly Change[] = [];

/** Every write to a branch as it happens. */
export function Live({ branch }: { readonly branch: BranchRow }) {
  const feed = useFeed((state) => (state.feed?.branch === branch.id ? state.feed : undefined));
  // Followed anew only for another branch: the list of branches changes with every write.
  // eslint-disable-next-line react-hooks/exhaustive-deps
  useEffect(() => followBranch(branch), [branch.id]);
  if (feed?.loaded !== true) return <div className="body" aria-busy="true" />;
  if (feed.changes.length === 0 && feed.error === undefined) return <NothingYet branch={branch} />;
  return <LoadedFeed branch={branch} feed={feed} />;
}

function LoadedFeed({ branch, feed }: { readonly branch: BranchRow; readonly feed: Feed }) {
  const [filter, setFilter] = useState<FeedFilter>(noFilter);
  const [document, setDocument] = useState<DocumentRef | undefined>(takeDocumentRequest);
  const [view, setView] = useState<LiveView>('writes');
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [selected, setSelected] = useState<number>();
  const shownFilter = useDeferredValue(filter);
  const history = useDocumentHistory(feed, document);
  const changes = document === undefined ? feed.changes : (history ?? none);
  const filtered = useFiltered(changes, shownFilter);
  const rows = useMemo(() => feedRows(filtered, toggled), [filtered, toggled]);
  const change = useMemo(
    () => changes.find((one) => one.seq === selected) ?? filtered.at(-1),
    [changes, filtered, selected],
  );
  const isSandbox = branch.parent !== undefined;
  const undoSelected = (): void => {
    if (change === undefined || !isDocumentChange(change)) return;
    openDialog({ kind: 'undo-changes', branch: branch.id, what: { seqs: [change.seq] } });
  };
  useRoomKeys({ u: () => (view === 'writes' ? undoSelected() : undefined) });
  useRunningImport(feed);
  const toggle = (key: string): void =>
    setToggled((now) => {
      const next = new Set(now);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  return (
    <div className="body live">
      <ActivityTrack feed={feed} />
      <FeedFilters
        changes={feed.changes}
        filter={filter}
        onChange={setFilter}
        view={isSandbox ? { value: view, onChange: setView } : undefined}
        total={
          view === 'net' || filtered.length === feed.changes.length
            ? plural(branch.seq, 'write')
            : `${count(filtered.length)} of ${count(changes.length)} shown`
        }
      />
      {view === 'net' ? (
        <NetEffect key={branch.id} branch={branch} />
      ) : (
        <>
          <section className="feed" aria-label="Changes">
            <LagBanner lagMs={branch.lagMs} />
            {document === undefined ? (
              <FeedBanner feed={feed} />
            ) : (
              <DocumentBanner document={document} writes={history?.length} onClose={() => setDocument(undefined)} />
            )}
            {feed.error === undefined ? null : <ErrorNote error={feed.error} />}
            <FeedList
              feed={document === undefined ? feed : { ...feed, reachedStart: true }}
              rows={rows}
              selected={change?.seq}
              onSelect={setSelected}
              onToggle={toggle}
              filtered={shownFilter !== noFilter || document !== undefined}
            />
          </section>
          {change === undefined ? (
            <aside className="detail" aria-label="Selected change" />
          ) : (
            <ChangeDetail
              branch={branch}
              change={change}
              onUndo={undoSelected}
              onHistory={document === undefined ? setDocument : undefined}
            />
          )}
        </>
      )}
    </div>
  );
}

/** Reads the row of an import again until it has ended. */
function useRunningImport(feed: Feed): void {
  const seq = runningImport(feed)?.seq;
  const { branch, name } = feed;
  useEffect(() => {
    if (seq === undefined) return;
    const timer = setInterval(() => {
      const { feed: now } = useFeed.getState();
      // A lost connection is told by the status line; the next round asks again.
      if (now?.branch === branch) rereadChange(now, seq).catch(() => undefined);
    }, 1_000);
    return () => {
      clearInterval(timer);
    };
  }, [seq, branch, name]);
}

/** A branch nobody has written to: what to do so that something shows. */
function NothingYet({ branch }: { readonly branch: BranchRow }) {
  return (
    <section className="blank" aria-label="No writes yet">
      <h2>Nothing has been written yet</h2>
      <p className="soft">
        Hand the connection string of {branch.name} to an agent, a test or a script. Each write shows here within
        milliseconds, with the document before and after.
      </p>
    </section>
  );
}
