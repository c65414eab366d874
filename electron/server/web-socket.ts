import type { WebSocket } from 'ws';
import { closing } from '../../shared/rpc/closing.ts';
import type { Transport } from '../../shared/rpc/transport.ts';

/** A browser that leaves this much unread is cut off: memory is worth more than its connection. */
const maxUnreadBytes = 256 * 1024 * 1024;

/** The engine's side of a WebSocket. Binary messages end the connection: frames are text. */
export function webSocketServerTransport(socket: WebSocket): Transport {
  const state = closing();
  let listener: ((text: string) => void) | undefined;
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) socket.close(1003);
    else if (!state.closed) listener?.(data.toString('utf8'));
  });
  socket.on('close', () => state.close());
  // The reason is of no use to anybody: 'close' follows.
  socket.on('error', () => {});
  return {
    send(text) {
      if (state.closed) return;
      socket.send(text);
      if (socket.bufferedAmount > maxUnreadBytes) socket.terminate();
    },
    onMessage(next) {
      listener = next;
    },
    onClose: (next) => state.onClose(next),
    close() {
      state.close();
      socket.close(1000);
    },
  };
}
