import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { actorHues, freeHue } from './actor-hue.ts';

describe('the colour of an actor', () => {
  it('is told by its name where nobody has it yet', () => {
    expect(freeHue(new Map(), 'claude-code')).toBe(freeHue(new Map(), 'claude-code'));
    const alone = new Set(Array.from({ length: 100 }, (_, run) => freeHue(new Map(), `agent:run-${String(run)}`)));
    expect(alone.size).toBe(actorHues);
  });

  it('is another one for each, as long as there are some, and then shared evenly', () => {
    const taken = new Map<string, number>();
    for (let run = 0; run < 2 * actorHues; run += 1) {
      const name = `agent:run-${String(run)}`;
      taken.set(name, freeHue(taken, name));
      if (run === actorHues - 1) expect(new Set(taken.values()).size).toBe(actorHues);
    }
    for (let hue = 0; hue < actorHues; hue += 1) {
      expect([...taken.values()].filter((one) => one === hue)).toHaveLength(2);
    }
  });

  it('is one that the style sheet names', () => {
    const tokens = readFileSync(join(import.meta.dirname, '../styles/tokens.css'), 'utf8');
    expect(tokens.match(/--actor-\d+:/g)).toHaveLength(actorHues);
  });
});
