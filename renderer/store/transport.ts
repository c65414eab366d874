import { ForkyardError } from '../../shared/errors.ts';
import { desktopTransport } from '../../shared/rpc/desktop.ts';
import type { Transport } from '../../shared/rpc/transport.ts';
import { webKeyProtocol, webProtocol, webSocketTransport } from '../../shared/rpc/web-socket.ts';

/** Opens a way to the engine. Rejects with what keeps it from starting, or with `web_refused` where this page may not talk to it. */
export type OpenTransport = () => Promise<Transport>;

/** The way that this page has: the desktop app's port, else the loopback web it was loaded from. */
export function engineTransport(): OpenTransport {
  const desktop = window.forkyard;
  return desktop === undefined ? webTransport() : () => desktopTransport(desktop);
}

const keyName = 'forkyard.key';

/**
 * A WebSocket to the server of this page. The key in the address is taken out of the address bar and kept for this tab and
 * origin, port included, so that a reload goes by it.
 */
function webTransport(): OpenTransport {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given !== null) {
    sessionStorage.setItem(keyName, given);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return async () => {
    const key = sessionStorage.getItem(keyName);
    if (key === null) throw await whyClosed();
    const address = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/rpc`;
    const socket = new WebSocket(address, [webProtocol, webKeyProtocol(key)]);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve(), { once: true });
      socket.addEventListener('close', () => void whyClosed().then(reject), { once: true });
    });
    return webSocketTransport(socket);
  };
}

/** A refused socket says nothing of the cause: a page that still answers means that the key is missing or stale. */
async function whyClosed(): Promise<ForkyardError> {
  const answers = await fetch(location.pathname, { method: 'HEAD', cache: 'no-store' }).then(
    () => true,
    () => false,
  );
  return answers
    ? new ForkyardError('web_refused', 'This browser tab has no key to the engine.', {
        hint: 'Open the link that “forkyard up” prints.',
      })
    : new ForkyardError('engine_unreachable', 'The Forkyard engine does not answer.', { retry: true });
}
