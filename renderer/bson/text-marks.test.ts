import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { markText } from './text-marks.ts';
import type { Piece } from './text-marks.ts';

const drawn = (pieces: readonly Piece[]): string =>
  pieces.map(({ text, mark }) => (mark === 'gap' ? `‹${text}›` : mark === undefined ? text : `[${text}]`)).join('');
const both = (before: string, after: string): string[] => markText(before, after).map(drawn);

describe('DF-08: long strings', () => {
  it('one character of 61 is marked as one character', () => {
    const before = 'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghi';
    expect(before).toHaveLength(61);
    expect(both(before, `${before.slice(0, 30)}X${before.slice(31)}`)).toEqual([
      `"${before.slice(0, 30)}[${before[30]!}]${before.slice(31)}"`,
      `"${before.slice(0, 30)}[X]${before.slice(31)}"`,
    ]);
  });

  it('several changed words are marked each, and none between them', () => {
    expect(both('the quick brown fox jumps over the lazy dog', 'the slow brown fox jumps over the old dog')).toEqual([
      '"the [quick] brown fox jumps over the [lazy] dog"',
      '"the [slow] brown fox jumps over the [old] dog"',
    ]);
  });

  it('emoji stay whole and line ends are shown', () => {
    expect(both('a family 👨‍👩‍👧 lives here\r\nand there', 'a family 👨‍👩‍👧‍👦 lives here\nand there')).toEqual([
      '"a family [👨‍👩‍👧] lives here[\\r\\n]and there"',
      '"a family [👨‍👩‍👧‍👦] lives here[\\n]and there"',
    ]);
    expect(both('I like 🍏 a lot', 'I like 🍎 a lot')).toEqual(['"I like [🍏] a lot"', '"I like [🍎] a lot"']);
  });

  it('a change deep inside a megabyte is in sight, and is found quickly', () => {
    const words = Array.from({ length: 150_000 }, (_, at) => `word${String(at)}`);
    const before = words.join(' ');
    words[75_000] = 'CHANGED';
    // What it computes, whoever else uses the machine; microseconds.
    const began = process.cpuUsage();
    const [old, fresh] = markText(before, words.join(' '));
    expect(process.cpuUsage(began).user).toBeLessThan(3_000_000);
    expect(drawn(fresh)).toContain('[CHANGED]');
    expect(drawn(old)).toContain('[word75000]');
    expect(drawn(fresh).length).toBeLessThan(300);
  });

  it('two unlike megabytes are readable and quick', () => {
    const text = (seed: number): string => {
      let state = seed;
      const next = (): number => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648);
      return Array.from({ length: 170_000 }, () => next().toString(36).slice(0, 5)).join(' ');
    };
    // What it computes, whoever else uses the machine; microseconds.
    const began = process.cpuUsage();
    const [old, fresh] = markText(text(1), text(2));
    expect(process.cpuUsage(began).user).toBeLessThan(5_000_000);
    for (const side of [old, fresh]) {
      expect(drawn(side)).toMatch(/‹[\d,]+ characters›/);
      expect(drawn(side).length).toBeLessThan(4_000);
    }
  });

  it('every text up to the length of a gap is there in full on both sides', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 80 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const [old, fresh] = markText(before, after).map((pieces) => pieces.map((piece) => piece.text).join(''));
        expect(JSON.parse(old!)).toBe(before);
        expect(JSON.parse(fresh!)).toBe(after);
      }),
      { numRuns: 500 },
    );
  });
});
