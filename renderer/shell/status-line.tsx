import { useApp } from '../store/app.ts';
import { retryConnection } from '../store/engine.ts';
import { commands, runCommand } from './commands.ts';
import { Icon } from './icons.tsx';
import { shortcutText } from './keyboard.ts';
import { bytes, plural } from './numbers.ts';
import { isDark, setTheme, useTheme } from './theme.ts';

/** Engine, memory and disk; while the engine is gone, a banner in its place. */
export function StatusLine() {
  const kind = useApp((app) => app.connection.kind);
  return (
    <footer className={kind === 'open' ? 'status' : 'status status-lost'}>
      <span className="status-facts" role="status">
        {kind === 'open' ? <Facts /> : <Lost kind={kind} />}
      </span>
      <span className="push">
        <button type="button" className="status-button" onClick={() => runCommand(commands.palette)}>
          Commands {shortcutText('mod+k')}
        </button>
        <button
          type="button"
          className="status-button"
          aria-label="Settings"
          title={`Settings, ${shortcutText('mod+,')}`}
          onClick={() => runCommand(commands.settings)}
        >
          <Icon name="sliders" small />
        </button>
        <ThemeButton />
      </span>
    </footer>
  );
}

function Facts() {
  const status = useApp((app) => app.status);
  const branches = useApp((app) => app.branches);
  const awake = branches.filter((branch) => branch.state === 'live' || branch.state === 'starting');
  const asleep = branches.filter((branch) => branch.state === 'asleep').length;
  const lagMs = Math.max(0, ...awake.map((branch) => branch.lagMs ?? 0));
  if (status === undefined) return null;
  const { disk, memory } = status;
  return (
    <>
      <span>
        <Icon name="check" small />
        Engine running, mongod {status.mongod.version}
      </span>
      <span>
        {plural(awake.length, 'branch', 'branches')} awake
        {asleep === 0 ? '' : `, ${String(asleep)} asleep`}
      </span>
      <span>Memory {bytes(memory.engine + memory.servers)}</span>
      <span>
        Disk {bytes(disk.used)}
        {disk.shared ? ', shared between branches' : ''}
        {disk.short === true ? ', nearly full: recording waits for room' : ''}
        {disk.trash > 0 ? `, ${bytes(disk.trash)} in the trash` : ''}
      </span>
      <span>Capture {lagMs < 1 ? 'up to date' : `${lagText(lagMs)} behind`}</span>
    </>
  );
}

function lagText(ms: number): string {
  return ms < 1000 ? `${String(Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function Lost({ kind }: { readonly kind: 'connecting' | 'lost' | 'refused' }) {
  if (kind === 'connecting') return <span>Connecting to the engine</span>;
  if (kind === 'lost') {
    const desktop = window.forkyard;
    return desktop === undefined ? (
      <span>
        <Icon name="alert" small />
        <b>The engine has gone.</b> Nothing is lost: start it again with “forkyard up” and open the link.
      </span>
    ) : (
      <span>
        <Icon name="alert" small />
        <b>Engine restarting.</b> Nothing is lost: what you see is from before, and goes on when it is back.
        <button type="button" className="status-button" onClick={() => void desktop.showLogs()}>
          Show logs
        </button>
      </span>
    );
  }
  return (
    <span>
      <Icon name="alert" small />
      <b>No engine.</b>
      <button type="button" className="status-button" onClick={retryConnection}>
        Try again
      </button>
    </span>
  );
}

function ThemeButton() {
  const theme = useTheme((state) => state.theme);
  const dark = isDark(theme);
  return (
    <button
      type="button"
      className="status-button"
      aria-label={dark ? 'Switch to the light theme' : 'Switch to the dark theme'}
      title={dark ? 'Light theme' : 'Dark theme'}
      onClick={() => setTheme(dark ? 'light' : 'dark')}
    >
      <Icon name="theme" small />
    </button>
  );
}
