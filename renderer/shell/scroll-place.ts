import { useLayoutEffect, useRef, useState } from 'react';
import type { RefObject } from 'react';

/**
 * What a list scrolls in: itself, or, where its style lets it grow to its full height, what it lies in. Without it a list
 * that grows would have all of its rows in view at once.
 * @returns the scrolling element, and how many pixels of it lie above the list
 */
export function useScrollPlace(list: RefObject<HTMLElement | null>): {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly abovePx: number;
} {
  const scroller = useRef<HTMLElement | null>(null);
  const [abovePx, setAbovePx] = useState(0);
  // What stands above the list may change with any drawing.
  useLayoutEffect(() => {
    const element = list.current;
    scroller.current = element && scrollingOf(element);
    const around = scroller.current;
    if (element === null || around === null || element === around) return;
    const above = element.getBoundingClientRect().top - around.getBoundingClientRect().top + around.scrollTop;
    setAbovePx(Math.round(above));
  });
  return { scroller, abovePx };
}

function scrollingOf(element: HTMLElement): HTMLElement {
  for (let at: HTMLElement | null = element; at !== null; at = at.parentElement) {
    if (getComputedStyle(at).overflowY !== 'visible') return at;
  }
  return element;
}
