import { useEffect, useRef } from 'react';
import { useApp } from '../store/app.ts';
import { isTyping, matches } from './keyboard.ts';
import type { Shortcut } from './keyboard.ts';
import { useSingleKeys } from './single-keys.ts';

/** Keys of the view that is open. They stay with text fields and open dialogs. */
export function useRoomKeys(keys: Readonly<Record<Shortcut, () => void>>): void {
  const current = useRef(keys);
  useEffect(() => {
    current.current = keys;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || isTyping(event) || useApp.getState().dialog !== undefined) return;
      const found = Object.entries(current.current).find(([shortcut]) => matches(event, shortcut));
      if (found === undefined) return;
      // A letter alone: it can be switched off.
      if (/^(shift\+)?[^+]$/.test(found[0]) && !useSingleKeys.getState().on) return;
      event.preventDefault();
      found[1]();
    };
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onKey);
    };
  }, []);
}
