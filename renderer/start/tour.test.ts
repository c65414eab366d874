import { describe, expect, it } from 'vitest';
import type { BranchRow, LogEntry } from '../../shared/api.ts';
import { adoption, following } from './tour.ts';
import type { TourState } from './tour.ts';

const since = '2026-11-29T12:00:00.000Z';
const later = '2026-11-29T12:01:00.000Z';
const row = (name: string, more: Partial<BranchRow> = {}): BranchRow => ({
  id: name,
  name,
  state: 'live',
  access: 'schema',
  ahead: 0,
  seq: 0,
  actors: [],
  ...more,
});
const app = (more: object = {}) => ({
  branches: [row('main'), row('old', { parent: 'main', forkedAt: '2026-11-29T11:00:00.000Z' })],
  log: [] as LogEntry[],
  tab: 'live' as const,
  chosen: undefined,
  dialog: undefined,
  ...more,
});
const adopted = (more: Partial<LogEntry> = {}): LogEntry => ({
  entry: 'a1',
  time: later,
  kind: 'adopt',
  branch: 'new',
  text: '',
  undoable: true,
  ...more,
});
const at = (step: TourState['step'], branch?: string): TourState => ({ step, since, branch });

describe('the tour', () => {
  it('goes on with the first sandbox forked since it began', () => {
    expect(following(at('fork'), app())).toEqual(at('fork'));
    const branches = [...app().branches, row('new', { parent: 'main', forkedAt: later })];
    expect(following(at('fork'), app({ branches }))).toEqual(at('change', 'new'));
  });

  it('follows the review, the adoption and its undo, however they were done', () => {
    const branches = [...app().branches, row('new', { parent: 'main', forkedAt: later })];
    expect(following(at('review', 'new'), app({ branches, tab: 'review', chosen: 'new' })).step).toBe('adopt');
    expect(
      following(at('adopt', 'new'), app({ branches, log: [adopted({ time: '2026-11-29T11:30:00.000Z' })] })).step,
    ).toBe('adopt');
    expect(following(at('adopt', 'new'), app({ branches, log: [adopted()] })).step).toBe('undo');
    expect(following(at('undo', 'new'), app({ branches, log: [adopted()] })).step).toBe('undo');
    const undone = adopted({ entry: 'u1', kind: 'undo', time: '2026-11-29T12:02:00.000Z' });
    expect(following(at('undo', 'new'), app({ branches, log: [undone, adopted()] })).step).toBe('done');
    expect(following(at('undo', 'new'), app({ branches, log: [adopted({ undoneBy: 'u1' })] })).step).toBe('done');
  });

  it('begins again with a fork when its sandbox has ended', () => {
    const branches = [...app().branches, row('new', { parent: 'main', state: 'trashed', forkedAt: later })];
    expect(following(at('adopt', 'new'), app({ branches })).step).toBe('fork');
    expect(following(at('done', 'new'), app({ branches })).step).toBe('done');
  });

  it('knows no adoption of before', () => {
    expect(adoption(at('adopt'), [adopted({ time: '2026-11-29T11:59:59.000Z' })])).toBeUndefined();
  });
});
