import { useVirtualizer } from '@tanstack/react-virtual';
import type { RefObject } from 'react';

/**
 * The rows of a long list that are in view. The one place that calls the library: its functions change what they answer
 * without changing themselves, so nothing that uses it may be memoised by a compiler.
 */
export function useVirtualRows(options: {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly count: number;
  readonly height: (index: number) => number;
  readonly keyOf: (index: number) => string | number;
  readonly overscan: number;
  /** Pixels of the scrolled area above the first row that stay in view. */
  readonly headPx?: number;
  /** Pixels of it above the first row that scroll away with the rows. */
  readonly abovePx?: number;
}) {
  const { scroller, count, height, keyOf, overscan, headPx = 0, abovePx = 0 } = options;
  return useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: height,
    getItemKey: keyOf,
    overscan,
    scrollMargin: headPx + abovePx,
    scrollPaddingStart: headPx,
  });
}
