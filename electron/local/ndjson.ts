import type { Duplex } from 'node:stream';
import { closing } from '../../shared/rpc/closing.ts';
import type { Transport } from '../../shared/rpc/transport.ts';

/** Room for a decision that carries the largest document (16 MB, base64) and then some. */
export const maxRequestBytes = 32 * 1024 * 1024;
/** A peer that leaves this much unread is cut off: memory is worth more than its connection. */
const maxUnreadBytes = 256 * 1024 * 1024;

/** Frames over a byte stream, one a line. A frame longer than `maxFrameBytes` ends the connection. */
export function streamTransport(stream: Duplex, maxFrameBytes = Number.POSITIVE_INFINITY): Transport {
  const state = closing();
  let listener: ((text: string) => void) | undefined;
  let parts: Buffer[] = [];
  let length = 0;

  const end = (): void => {
    parts = [];
    state.close();
  };
  const receive = (chunk: Buffer): void => {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0 && !state.closed; at = chunk.indexOf(10, from)) {
      const frame = Buffer.concat([...parts, chunk.subarray(from, at)]).toString('utf8');
      parts = [];
      length = 0;
      from = at + 1;
      listener?.(frame);
    }
    if (state.closed) return;
    length += chunk.length - from;
    if (length > maxFrameBytes) {
      stream.destroy();
      end();
    } else if (from < chunk.length) parts.push(chunk.subarray(from));
  };
  stream.on('close', end);
  // The reason is of no use to anybody: 'close' follows.
  stream.on('error', () => {});

  return {
    send(text) {
      if (state.closed || !stream.writable) return;
      stream.write(`${text}\n`);
      if (stream.writableLength > maxUnreadBytes) stream.destroy();
    },
    onMessage(next) {
      listener = next;
      stream.on('data', receive);
    },
    onClose: (next) => state.onClose(next),
    close() {
      if (state.closed) return;
      end();
      stream.end(() => stream.destroy());
    },
  };
}
