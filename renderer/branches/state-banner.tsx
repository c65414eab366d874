import type { BranchRow } from '../../shared/api.ts';
import { commands, runCommand } from '../shell/commands.ts';
import type { Command } from '../shell/commands.ts';
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
      {words.verbs.map(({ command, label, icon }, at) => (
        <Button
          key={command.id}
          look={at === words.verbs.length - 1 ? 'plain' : 'bare'}
          icon={icon}
          onClick={() => runCommand(command, branch)}
        >
          {label}
        </Button>
      ))}
    </div>
  );
}

interface Verb {
  readonly command: Command;
  readonly label: string;
  readonly icon?: IconName;
}

interface Words {
  readonly icon: IconName;
  readonly what: string;
  readonly more: string;
  /** The likeliest last. */
  readonly verbs: readonly Verb[];
}

function stateSentence(branch: BranchRow, now: number): Words | undefined {
  const { name, state, note, expiresAt, goneAt } = branch;
  const until = goneAt === undefined ? '' : ` It can be brought back until ${moment(goneAt, now)}.`;
  const back = (label: string): Verb => ({ command: commands.bringBack, label, icon: 'undo' });
  switch (state) {
    case 'asleep': {
      const end = expiresAt === undefined ? '' : ` It still expires at ${moment(expiresAt, now)}.`;
      const more = `Its server is stopped. Data, record and URI are kept.${end}`;
      return { icon: 'moon', what: `${name} is asleep.`, more, verbs: [back('Wake')] };
    }
    case 'failed':
      return {
        icon: 'alert',
        what: `${name} does not run.`,
        more: `${sentence(note ?? 'Its server ended')} Its changes up to then are kept in Live.`,
        verbs: [
          { command: commands.discard, label: 'Discard…' },
          { command: commands.showLog, label: 'Show log…' },
          back('Try again'),
        ],
      };
    case 'expired':
      return {
        icon: 'buffer-stop',
        what: `${name} has expired.`,
        more: `Nobody reviewed its changes.${until}`,
        verbs: [back('Bring back')],
      };
    case 'trashed':
      return { icon: 'trash', what: `${name} was discarded.`, more: until.trim(), verbs: [back('Bring back')] };
    case 'starting':
    case 'live':
      return undefined;
  }
}

/** What the engine noted, with a capital and a full stop. */
function sentence(note: string): string {
  const text = note.slice(0, 1).toUpperCase() + note.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
