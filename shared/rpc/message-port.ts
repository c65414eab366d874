import { closing } from './closing.ts';
import type { Transport } from './transport.ts';

/** The DOM's MessagePort; Node's own has the same face. */
interface DomPort {
  postMessage(message: unknown): void;
  addEventListener(type: string, listener: (event: unknown) => void): void;
  start(): void;
  close(): void;
}
/** Electron's MessagePortMain, an event emitter. */
interface ElectronPort {
  postMessage(message: unknown): void;
  on(type: 'message' | 'close', listener: (event: { data: unknown }) => void): unknown;
  start(): void;
  close(): void;
}

/**
 * Frames over a MessagePort, the DOM's or Electron's. The DOM of Chromium before 122 never tells that the other end is
 * gone: there, whoever hands the port out calls `close`. What is not text is dropped.
 */
export function messagePortTransport(port: DomPort | ElectronPort): Transport {
  const state = closing();
  let listener: ((text: string) => void) | undefined;
  const receive = (event: unknown): void => {
    const data = (event as { data: unknown }).data;
    if (typeof data === 'string' && !state.closed) listener?.(data);
  };
  if ('addEventListener' in port) {
    port.addEventListener('message', receive);
    port.addEventListener('close', () => state.close());
  } else {
    port.on('message', receive);
    port.on('close', () => state.close());
  }
  return {
    send(text) {
      if (!state.closed) port.postMessage(text);
    },
    onMessage(next) {
      listener = next;
      port.start();
    },
    onClose: (next) => state.onClose(next),
    close() {
      if (state.closed) return;
      port.close();
      state.close();
    },
  };
}
