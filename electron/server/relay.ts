import type { Transport } from '../../shared/rpc/transport.ts';

/** Joins two transports: frames pass as they are, in both directions, and when one closes so does the other. */
export function relay(left: Transport, right: Transport): void {
  left.onClose(() => right.close());
  right.onClose(() => left.close());
  left.onMessage((text) => right.send(text));
  right.onMessage((text) => left.send(text));
}
