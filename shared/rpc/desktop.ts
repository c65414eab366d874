import type { Desktop, DesktopMessage } from '../desktop.ts';
import { ForkyardError } from '../errors.ts';
import { messagePortTransport } from './message-port.ts';
import type { Transport } from './transport.ts';

/**
 * A fresh transport from the desktop app's window to the engine. Throws the ForkyardError with which the engine failed to
 * start. The transport closes when the engine is gone, which a DOM port alone does not tell in every Chromium.
 */
export async function desktopTransport(desktop: Desktop): Promise<Transport> {
  const mail = openMail();
  const answer = await desktop.connect();
  if ('error' in answer) {
    mail.close();
    throw ForkyardError.from(answer.error);
  }
  const transport = messagePortTransport(await mail.port(answer.connection));
  mail.onGone(answer.connection, () => transport.close());
  transport.onClose(() => mail.close());
  return transport;
}

/** What the preload script posts, kept from before the question is asked: the port may overtake the answer. */
function openMail() {
  const ports = new Map<number, MessagePort>();
  const gone = new Set<number>();
  const listeners = new Set<() => void>();
  const onMessage = (event: MessageEvent): void => {
    const message = event.data as DesktopMessage | null;
    if (event.source !== window || message === null || !('connection' in message)) return;
    const port = event.ports[0];
    if (message.forkyard === 'port' && port !== undefined) ports.set(message.connection, port);
    if (message.forkyard === 'closed') gone.add(message.connection);
    for (const listener of listeners) listener();
  };
  /** Calls `listener` now and at each message, until it says that it is done. */
  const watch = (listener: () => boolean): void => {
    const step = (): void => {
      if (listener()) listeners.delete(step);
    };
    listeners.add(step);
    step();
  };
  window.addEventListener('message', onMessage);
  return {
    port: (connection: number) =>
      new Promise<MessagePort>((resolve) =>
        watch(() => {
          const port = ports.get(connection);
          if (port !== undefined) resolve(port);
          return port !== undefined;
        }),
      ),
    onGone: (connection: number, listener: () => void) =>
      watch(() => {
        if (gone.has(connection)) listener();
        return gone.has(connection);
      }),
    close: () => window.removeEventListener('message', onMessage),
  };
}
