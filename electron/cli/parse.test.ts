import { expect, test } from 'vitest';
import { commands } from './main.ts';
import { nearest } from './nearest.ts';
import { parseLine } from './parse.ts';

const parse = (...argv: string[]) => parseLine(commands, argv);

test('values stay the text they were, wherever the flags stand', () => {
  const line = parse('--data', '007', 'import', '-', '--db', '2024', '--collection=1e3', '--json');
  expect(line.command.name).toBe('import');
  expect(line.operands).toEqual(['-']);
  expect(line.flags).toEqual({ data: '007', db: '2024', collection: '1e3', json: true });
});

test('a negative number is the value of the flag before it, whose command says what is wrong with it', () => {
  expect(parse('fork', 'b', '--ttl', '-1h').flags['ttl']).toBe('-1h');
  expect(parse('changes', 'b', '--after', '-1', '--json').flags).toEqual({ after: '-1', json: true });
});

test('a flag that repeats keeps each value', () => {
  expect(parse('adopt', 'b', '--only', 'a.b', '--only', 'a.c').flags['only']).toEqual(['a.b', 'a.c']);
});

test.each([
  [['forks'], 'There is no command "forks".', 'Did you mean `forkyard fork`?'],
  [['brnaches'], 'There is no command "brnaches".', 'Did you mean `forkyard branches`?'],
  [['xyzzy'], 'There is no command "xyzzy".', '`forkyard help` lists them.'],
  [[], 'No command was given.', '`forkyard help` lists them.'],
  [['fork', 'b', '--tll', '1h'], '`forkyard fork` has no flag --tll.', 'Did you mean --ttl?'],
  [['fork', 'b', '-x'], '`forkyard fork` has no flag -x.', /^forkyard fork NAME \[--from BRANCH\]/],
  [['keep', 'b', '--ttl=1h'], '`forkyard keep` has no flag --ttl.', 'forkyard keep BRANCH'],
  [['fork'], '`forkyard fork` needs NAME.', /^forkyard fork NAME/],
  [['fork', 'a', 'b'], '`forkyard fork` does not take "b".', /^forkyard fork NAME/],
  [
    ['fork', 'a', '--ttl'],
    '`forkyard fork`: --ttl needs a value; one that begins with a dash is written --ttl=-….',
    /^forkyard fork NAME/,
  ],
  [
    ['branches', '--data', '--json'],
    '`forkyard branches`: --data needs a value; one that begins with a dash is written --data=-….',
    'forkyard branches [--all]',
  ],
  [['down', '--json=yes'], "`forkyard down`: Option '--json' does not take an argument.", 'forkyard down'],
])('%j is refused in one sentence', (argv, message, hint) => {
  expect(() => parse(...argv)).toThrow(
    expect.objectContaining({
      code: 'usage',
      message,
      hint: typeof hint === 'string' ? hint : expect.stringMatching(hint),
    }),
  );
});

test('nearest finds slips and beginnings, and nothing for what is far away', () => {
  const words = ['fork', 'diff', 'discard', 'log'];
  expect(nearest('dif', words)).toBe('diff');
  expect(nearest('dsicard', words)).toBe('discard');
  expect(nearest('frok', words)).toBe('fork');
  expect(nearest('disc', words)).toBe('discard');
  expect(nearest('x', words)).toBeUndefined();
  expect(nearest('', words)).toBeUndefined();
});
