import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Steps } from './steps.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('tells the log of a step that takes long, once, and of none that ended in time', () => {
  const lines: string[] = [];
  const steps = new Steps('forking a from main', (line) => lines.push(line));
  steps.begin('cloning the files');
  vi.advanceTimersByTime(9_000);
  steps.begin('starting the server');
  vi.advanceTimersByTime(9_000);
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(60_000);
  expect(lines).toEqual(['forking a from main: starting the server takes more than 10 s']);
  steps.begin('making accounts and capture');
  steps.end();
  vi.advanceTimersByTime(60_000);
  expect(lines).toHaveLength(1);
});
