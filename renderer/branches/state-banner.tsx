import type { BranchRow } from '../../shared/api.ts';
import { commands, runCommand } from '../shell/commands.ts';
import { Button } from '../shell/controls.tsx';
import { Icon } from '../shell/icons.tsx';
import type { IconName } from '../shell/icons.tsx';
import { moment, useNow } from '../shell/time.ts';

/** Why a branch has no server now, and what can be done about it; nothing where it runs. */
export function StateBanner({ branch }: { readonly branch: BranchRow }) {
  const now = useNow(30_000);
  const words = stateSentence(branch, now);
  if (words === undefined) return null;
  return (
    <div className="banner state-banner" role="status" aria-label="State">
      <Icon name={words.icon} />
      <span>
        <b>{words.what}</b> {words.more}
      </span>
      <span className="push" />
      {branch.state === 'failed' ? (
        <Button look="bare" onClick={() => runCommand(commands.showLog, branch)}>
          Show log…
        </Button>
      ) : null}
      <Button icon="undo" onClick={() => runCommand(commands.bringBack, branch)}>
        {words.verb}
      </Button>
    </div>
  );
}

interface Words {
  readonly icon: IconName;
  readonly what: string;
  readonly more: string;
  readonly verb: string;
}

function stateSentence({ name, state, note, expiresAt, goneAt }: BranchRow, now: number): Words | undefined {
  const until = goneAt === undefined ? '' : ` It can be brought back until ${moment(goneAt, now)}.`;
  switch (state) {
    case 'asleep': {
      const end = expiresAt === undefined ? '' : ` It still expires at ${moment(expiresAt, now)}.`;
      const more = `Its server is stopped. Data, record and URI are kept.${end}`;
      return { icon: 'moon', what: `${name} is asleep.`, more, verb: 'Wake' };
    }
    case 'failed':
      return { icon: 'alert', what: `${name} does not run.`, more: note ?? '', verb: 'Try again' };
    case 'expired':
      return {
        icon: 'buffer-stop',
        what: `${name} has expired.`,
        more: `Nobody reviewed its changes.${until}`,
        verb: 'Bring back',
      };
    case 'trashed':
      return { icon: 'trash', what: `${name} was discarded.`, more: until.trim(), verb: 'Bring back' };
    case 'starting':
    case 'live':
      return undefined;
  }
}
