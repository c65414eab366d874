import { closing } from './closing.ts';
import type { Transport } from './transport.ts';

/** Two ends of a wire in one process. Frames arrive in a later microtask, as on a real one. */
export function memoryPair(): [Transport, Transport] {
  const state = closing();
  const listeners: [((text: string) => void) | undefined, ((text: string) => void) | undefined] = [
    undefined,
    undefined,
  ];
  const end = (self: 0 | 1): Transport => ({
    send(text) {
      queueMicrotask(() => {
        if (!state.closed) listeners[1 - self]?.(text);
      });
    },
    onMessage(listener) {
      listeners[self] = listener;
    },
    onClose: (listener) => state.onClose(listener),
    close: () => state.close(),
  });
  return [end(0), end(1)];
}
