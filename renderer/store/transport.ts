import { ForkyardError } from '../../shared/errors.ts';
import { desktopTransport } from '../../shared/rpc/desktop.ts';
import type { Transport } from '../../shared/rpc/transport.ts';
import { webSocketTransport } from '../../shared/rpc/web-socket.ts';

/** Opens a way to the engine. Rejects with what keeps it from starting, or with `web_refused` where this page may not talk to it. */
export type OpenTransport = () => Promise<Transport>;

/** The way that this page has: the desktop app's port, else the loopback web it was loaded from. */
export function engineTransport(): OpenTransport {
  const desktop = window.forkyard;
  return desktop === undefined ? webTransport() : () => desktopTransport(desktop);
}

/**
 * A WebSocket to the server of this page. The first time, the token in the address is exchanged for a cookie and
 * taken out of the address bar; a reload goes by the cookie.
 */
function webTransport(): OpenTransport {
  let token = new URLSearchParams(location.hash.slice(1)).get('token');
  return async () => {
    if (token !== null) {
      const reply = await fetch('/session', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      });
      // A token of an earlier engine is refused; whether a cookie is good all the same, the socket tells.
      if (reply.ok || reply.status === 401) {
        token = null;
        history.replaceState(null, '', location.pathname + location.search);
      }
    }
    const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/rpc`);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve(), { once: true });
      socket.addEventListener('close', () => void whyClosed().then(reject), { once: true });
    });
    return webSocketTransport(socket);
  };
}

/** A refused socket says nothing of the cause: a page that still answers means that the cookie is missing or stale. */
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
