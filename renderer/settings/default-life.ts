import { useEffect, useState } from 'react';
import { call } from '../store/engine.ts';

/** How long a sandbox lives unless its fork says otherwise, milliseconds; null keeps, undefined until it is known. */
export function useDefaultLife(): number | null | undefined {
  const [ttlMs, setTtlMs] = useState<number | null>();
  useEffect(() => {
    let isOpen = true;
    call('settings.get', {}).then(
      ({ settings }) => isOpen && setTtlMs(settings.defaultTtlMs),
      // The engine goes by its setting where a fork names no life, known here or not.
      () => undefined,
    );
    return () => {
      isOpen = false;
    };
  }, []);
  return ttlMs;
}
