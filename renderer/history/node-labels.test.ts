import { expect, it } from 'vitest';
import type { LogEntry } from '../../shared/api.ts';
import { letterPx, placeLabels, type NodeLabel } from './node-labels.ts';

function node(kind: string, x: number, items?: number) {
  const entry: LogEntry = {
    entry: `${kind} ${String(x)}`,
    time: '2026-11-29T13:00:00.000Z',
    kind,
    branch: 'trial',
    text: kind,
    undoable: false,
    ...(items === undefined ? {} : { items }),
  };
  return { entry, x };
}

function extent({ text, x, anchor }: NodeLabel): [number, number] {
  const size = text.length * letterPx;
  const from = anchor === 'start' ? x : anchor === 'end' ? x - size : x - size / 2;
  return [from, from + size];
}

it('puts a label over its node, and beside it where the mark stands on the node', () => {
  expect(placeLabels([node('adopt', 300, 7)], 900, 960)).toEqual([
    { key: 'adopt 300', text: 'adopted 7', x: 300, anchor: 'middle' },
  ]);
  for (const markX of [296, 300, 304]) {
    const [label] = placeLabels([node('adopt', 300, 7)], markX, 960);
    const [from, to] = extent(label!);
    expect(to <= markX || from >= markX).toBe(true);
  }
});

it('keeps what was adopted where there is no room for all, and no label runs into another, the mark or the edge', () => {
  const nodes = Array.from({ length: 60 }, (_, at) => node(at % 9 === 4 ? 'adopt' : 'fork', at * 16, at));
  const labels = placeLabels(nodes, 480, 960);
  const extents = labels.map(extent).sort(([a], [b]) => a - b);
  extents.forEach(([from, to], at) => {
    expect(from).toBeGreaterThanOrEqual(extents[at - 1]?.[1] ?? 0);
    expect(to).toBeLessThanOrEqual(960);
    expect(from < 480 && to > 480).toBe(false);
  });
  expect(labels.filter(({ text }) => text.startsWith('adopted'))).toHaveLength(7);
});
