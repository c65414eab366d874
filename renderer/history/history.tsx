import { useMemo, useState } from 'react';
import type { BranchRow, LogEntry } from '../../shared/api.ts';
import { hasEnded } from '../store/app.ts';
import { Entries } from './entries.tsx';
import { MomentPane, usePreview } from './preview.tsx';
import { Scrubber } from './scrubber.tsx';
import { seqAt, shareOf, useTrack, type Span, type Track } from './track.ts';
import { useLog } from './use-log.ts';
import './history.css';

/** What was done to the branch as a whole, and any moment of it. main shows what was done to any branch. */
export function History({ branch }: { readonly branch: BranchRow }) {
  const log = useLog();
  const entries = useMemo(() => (log ?? []).filter((entry) => concerns(entry, branch)), [log, branch]);
  if (log === undefined) return <div className="body" aria-busy="true" />;
  if (entries.length === 0 && branch.seq === 0) {
    return (
      <section className="blank" aria-label="History">
        <h2>Nothing has happened yet</h2>
        <p className="soft">
          Forks, imports, adoptions and what was undone are listed here. Single writes are in Live.
        </p>
      </section>
    );
  }
  // Without its server there is nothing to compare a moment with.
  if (hasEnded(branch) || branch.state !== 'live') {
    return (
      <div className="body hist hist-log">
        <Entries entries={entries} branch={branch} shownUpTo={undefined} />
      </div>
    );
  }
  return <Moments branch={branch} entries={entries} />;
}

function concerns(entry: LogEntry, branch: BranchRow): boolean {
  return branch.parent === undefined || entry.branch === branch.name || entry.text.includes(branch.name);
}

function Moments({ branch, entries }: { readonly branch: BranchRow; readonly entries: readonly LogEntry[] }) {
  const [span, setSpan] = useState<Span>('day');
  /** Undefined follows the branch: now. */
  const [chosen, setChosen] = useState<number>();
  const track = useTrack(branch, span);
  const last = track === undefined ? branch.seq : Math.max(track.last, branch.seq);
  const seq = Math.min(chosen ?? last, last);
  const { preview, error } = usePreview(branch, seq);
  const time = seq >= last ? undefined : preview?.at.time;
  const move = (to: number): void => setChosen(to >= last ? undefined : to);
  return (
    <div className="body hist" role="region" aria-label="History">
      {track === undefined ? (
        <div className="scrub" aria-busy="true" />
      ) : (
        <Scrubber
          branch={branch}
          track={{ ...track, last }}
          entries={entries}
          moment={{ seq, time }}
          span={span}
          onSpan={setSpan}
          onMove={move}
          onStepEntry={(direction) => {
            const to = entryStep(track, entries, { seq, time }, direction, last);
            if (to !== undefined) move(to);
          }}
        />
      )}
      <Entries entries={entries} branch={branch} shownUpTo={time} />
      <MomentPane branch={branch} seq={seq} preview={preview} error={error} />
    </div>
  );
}

/** The last change up to the next entry in a direction. */
function entryStep(
  track: Track,
  entries: readonly LogEntry[],
  moment: { readonly seq: number; readonly time?: string | undefined },
  direction: -1 | 1,
  last: number,
): number | undefined {
  const places = entries.map(({ time }) => seqAt(track, shareOf(track, Date.parse(time))) ?? 0).sort((a, b) => a - b);
  const next =
    direction === 1 ? places.find((place) => place > moment.seq) : places.filter((place) => place < moment.seq).at(-1);
  return next ?? (direction === 1 ? last : 0);
}
