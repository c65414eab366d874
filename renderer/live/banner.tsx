import { collectionName, idText } from '../bson/plain.ts';
import { commands, runCommand } from '../shell/commands.ts';
import { Button } from '../shell/controls.tsx';
import { Icon } from '../shell/icons.tsx';
import { plural } from '../shell/numbers.ts';
import { clock } from '../shell/time.ts';
import { jumpToNewest, newRows } from './feed.ts';
import type { Feed } from './feed.ts';
import type { DocumentRef } from './show-in-live.ts';

/** While the view is held: how much has come since, and how to let go. */
export function FeedBanner({ feed }: { readonly feed: Feed }) {
  const fresh = newRows(feed);
  const kept =
    fresh === 0 ? 'New writes are kept.' : `${plural(fresh, 'new write')} ${fresh === 1 ? 'is' : 'are'} kept.`;
  if (feed.pausedAt !== undefined) {
    return (
      <div className="banner" role="status">
        <Icon name="pause" />
        <span>
          <b>Paused at {clock(feed.pausedAt)}.</b> {kept}
        </span>
        <span className="push" />
        {fresh === 0 ? null : (
          <Button look="bare" onClick={jumpToNewest}>
            Jump to newest
          </Button>
        )}
        <Button icon="play" keys="space" onClick={() => runCommand(commands.pause)}>
          Resume
        </Button>
      </div>
    );
  }
  if (!feed.away || fresh === 0) return null;
  return (
    <div className="banner" role="status">
      <Icon name="down" />
      <span>{kept} The view stays still while you look back.</span>
      <span className="push" />
      <Button look="bare" onClick={jumpToNewest}>
        Jump to newest
      </Button>
    </div>
  );
}

/** One document's writes are shown alone: of which, and the way back to all. */
export function DocumentBanner({
  document,
  writes,
  onClose,
}: {
  readonly document: DocumentRef;
  readonly writes: number | undefined;
  readonly onClose: () => void;
}) {
  return (
    <div className="banner" role="status">
      <Icon name="clock" />
      <span>
        <b className="mono">
          {collectionName(document.ns)} {idText(document.id)}
        </b>{' '}
        {writes === undefined ? 'Reading its history' : `${plural(writes, 'write')} on record, from the first`}
      </span>
      <span className="push" />
      <Button onClick={onClose}>Show every write</Button>
    </div>
  );
}

const lagTold = 2_000;

/** Capture is behind the server: what is missing here is not lost, and says so. */
export function LagBanner({ lagMs = 0 }: { readonly lagMs: number | undefined }) {
  if (lagMs < lagTold) return null;
  return (
    <div className="banner" role="status">
      <span className="hatch-box hatch" aria-hidden="true" />
      <span>
        <b>Capture is {(lagMs / 1000).toFixed(0)} s behind.</b> Newer writes are recorded and will show.
      </span>
    </div>
  );
}
