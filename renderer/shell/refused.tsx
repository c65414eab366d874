import { useApp } from '../store/app.ts';
import { retryConnection } from '../store/engine.ts';
import { Button } from './controls.tsx';
import { Icon } from './icons.tsx';

/** The way to the engine's log, where there is a system to show it. */
function ShowLogs() {
  const desktop = window.forkyard;
  if (desktop === undefined) return null;
  return (
    <Button look="bare" size="medium" onClick={() => void desktop.showLogs()}>
      Show logs
    </Button>
  );
}

/** In the place of everything else while there is no engine to talk to. */
export function Refused() {
  const connection = useApp((app) => app.connection);
  if (connection.kind !== 'refused') return null;
  const { message, hint } = connection.error;
  return (
    <section className="blank" aria-label="No engine">
      <Icon name="alert" />
      <h2>{message}</h2>
      {hint === undefined ? null : <p className="soft">{hint}</p>}
      <Button size="medium" icon="refresh" onClick={retryConnection}>
        Try again
      </Button>
      <ShowLogs />
    </section>
  );
}
