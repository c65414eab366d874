import { toEjson } from '../../shared/bson/ejson.ts';
import { Type } from '../../shared/bson/value.ts';
import type { BsonValue } from '../../shared/bson/value.ts';
import { elementsOf, valueSlice } from '../../shared/bson/walk.ts';
import { plural } from '../shell/numbers.ts';
import { foldLine } from './line.ts';
import type { Line, Tone } from './line.ts';
import { sequenceRuns } from './sequence-runs.ts';

/** Of lines that are alike, this many stay beside a changed one; longer runs are folded. */
const context = 3;
const indent = '  ';

/** Canonical Extended JSON with each member on a line of its own. */
export function ejsonText(value: BsonValue): string {
  return ejsonRows(value).join('\n');
}

/** The two texts compared line by line, as they are: no value is cut, no type is left out. Either may be missing. */
export function ejsonLines(
  base: BsonValue | undefined,
  target: BsonValue | undefined,
  opened: ReadonlySet<string>,
): Line[] {
  const [old, fresh] = [base, target].map((value) => (value === undefined ? [] : ejsonRows(value))) as [
    string[],
    string[],
  ];
  const lines: Line[] = [];
  const push = (text: string, tone: Tone, at: number): void => {
    const changes: number[] = [];
    lines.push({ key: `${tone}${String(at)}`, depth: 0, tone, pieces: [{ text }], changes, box: false, wrap: true });
  };
  for (const { same, before, after } of sequenceRuns(old, fresh, 2_000)) {
    if (!same) {
      for (let at = before[0]; at < before[1]; at += 1) push(old[at] ?? '', 'rem', at);
      for (let at = after[0]; at < after[1]; at += 1) push(fresh[at] ?? '', 'add', at);
      continue;
    }
    const [from, to] = [
      after[0] === 0 ? 0 : after[0] + context,
      after[1] === fresh.length ? after[1] : after[1] - context,
    ];
    const fold = `ejson${String(from)}`;
    const folded = to - from > context && !opened.has(fold);
    for (let at = after[0]; at < after[1]; at += 1) {
      if (!folded || at < from || at >= to) push(fresh[at] ?? '', 'plain', at);
      else if (at === from) lines.push(foldLine(fold, 0, plural(to - from, 'unchanged line')));
    }
  }
  return lines;
}

function ejsonRows(value: BsonValue, head = '', tail = '', depth = 0, rows: string[] = []): string[] {
  const isArray = value[0] === Type.Array;
  const members = isArray || value[0] === Type.Object ? elementsOf(valueSlice(value)) : [];
  const pad = indent.repeat(depth);
  if (members.length === 0) {
    rows.push(`${pad}${head}${toEjson(value)}${tail}`);
    return rows;
  }
  rows.push(`${pad}${head}${isArray ? '[' : '{'}`);
  members.forEach((member, index) => {
    const name = isArray ? '' : `${JSON.stringify(member.name)}: `;
    ejsonRows(member.value, name, index === members.length - 1 ? '' : ',', depth + 1, rows);
  });
  rows.push(`${pad}${isArray ? ']' : '}'}${tail}`);
  return rows;
}
