import { closing } from './closing.ts';
import type { Transport } from './transport.ts';

/** What the two ends of the loopback web agree on; the only subprotocol that the server ever names. */
export const webProtocol = 'forkyard';

/** The subprotocol by which a page shows its key: the one header of a WebSocket that a page can set. */
export const webKeyProtocol = (key: string): string => `forkyard.key.${key}`;

/** Frames over a browser's WebSocket. What is sent before it is open waits for it. */
export function webSocketTransport(socket: WebSocket): Transport {
  const state = closing();
  const waiting: string[] = [];
  let listener: ((text: string) => void) | undefined;
  socket.addEventListener('open', () => {
    for (const text of waiting.splice(0)) socket.send(text);
  });
  socket.addEventListener('message', (event: MessageEvent) => {
    if (typeof event.data === 'string' && !state.closed) listener?.(event.data);
  });
  socket.addEventListener('close', () => state.close());
  return {
    send(text) {
      if (state.closed) return;
      if (socket.readyState === WebSocket.CONNECTING) waiting.push(text);
      else if (socket.readyState === WebSocket.OPEN) socket.send(text);
    },
    onMessage(next) {
      listener = next;
    },
    onClose: (next) => state.onClose(next),
    close() {
      socket.close();
      state.close();
    },
  };
}
