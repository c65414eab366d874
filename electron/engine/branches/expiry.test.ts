import { expect, it, vi } from 'vitest';
import { ExpirySweep } from './expiry.ts';
import type { Workspace } from './workspace.ts';

it('looks again after a look that failed, as where home ended in it: what is due stays due', async () => {
  let looks = 0;
  const find = () => {
    looks += 1;
    return { toArray: () => (looks === 1 ? Promise.reject(new Error('connection closed')) : Promise.resolve([])) };
  };
  const lines: string[] = [];
  const workspace = { home: { branches: { find } }, log: (line: string) => lines.push(line) } as unknown as Workspace;
  vi.useFakeTimers();
  try {
    const sweep = new ExpirySweep(workspace, () => undefined);
    sweep.wake();
    await vi.advanceTimersByTimeAsync(10);
    expect(lines).toEqual(['expiry: Error: connection closed']);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(looks).toBeGreaterThan(1);
    await sweep.stop();
  } finally {
    vi.useRealTimers();
  }
});
