import type { KeyboardEvent } from 'react';

/** The index that a key leads to in a list of `length` rows, of which about `page` fit the view; undefined for other keys. */
export function listKey(event: KeyboardEvent, at: number, length: number, page: number): number | undefined {
  if (length === 0 || event.metaKey || event.ctrlKey || event.altKey) return undefined;
  const last = length - 1;
  switch (event.key) {
    case 'ArrowDown':
      return Math.min(at + 1, last);
    case 'ArrowUp':
      return Math.max(at - 1, 0);
    case 'PageDown':
      return Math.min(at + page, last);
    case 'PageUp':
      return Math.max(at - page, 0);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return undefined;
  }
}
