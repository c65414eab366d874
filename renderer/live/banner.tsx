import { commands, runCommand } from '../shell/commands.ts';
import { Button } from '../shell/controls.tsx';
import { Icon } from '../shell/icons.tsx';
import { plural } from '../shell/numbers.ts';
import { clock } from '../shell/time.ts';
import { jumpToNewest, newRows } from './feed.ts';
import type { Feed } from './feed.ts';

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
