import { useEffect, useState } from 'react';
import type { RefObject } from 'react';

/** How wide an element is inside, in whole CSS pixels; 0 until it is drawn. */
export function useWidth(element: RefObject<Element | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const box = element.current;
    if (box === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(box);
    return () => {
      observer.disconnect();
    };
  }, [element]);
  return width;
}
