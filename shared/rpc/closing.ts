/** The part every transport shares: closed once, told to each listener once. */
export interface Closing {
  readonly closed: boolean;
  onClose(listener: () => void): void;
  /** Marks it closed and tells the listeners; later calls do nothing. */
  close(): void;
}

export function closing(): Closing {
  const listeners: (() => void)[] = [];
  let closed = false;
  return {
    get closed() {
      return closed;
    },
    onClose(listener) {
      if (closed) listener();
      else listeners.push(listener);
    },
    close() {
      if (closed) return;
      closed = true;
      for (const listener of listeners.splice(0)) listener();
    },
  };
}
