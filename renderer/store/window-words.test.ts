import { expect, it } from 'vitest';
import { inWindowWords } from './window-words.ts';

const words = (hint: string) => inWindowWords({ code: 'usage', message: 'No.', retry: false, hint }).hint;

it.each([
  ['Choose another name.', 'Choose another name.'],
  ['Choose another name, or discard it first with "forkyard discard a".', 'Choose another name, or discard it first.'],
  ['Wake it with "forkyard wake a".', 'Wake it.'],
  ['Bring it back with "forkyard wake a" first.', 'Bring it back first.'],
  ['See "forkyard log".', 'See History.'],
  ['"forkyard changes a" lists them; 0 is before the first.', 'Live lists them; 0 is before the first.'],
  ['Take that back with "forkyard undo e1".', 'Take that back.'],
  [
    'Once it runs they are there whole or not at all; "forkyard log" says which.',
    'Once it runs they are there whole or not at all; History says which.',
  ],
  ['Discard a sandbox instead; "forkyard branches" lists them.', 'Discard a sandbox instead; the sidebar lists them.'],
  [
    'Commit or abort them, or fork with --end-transactions; their owners then get an error, in most cases one that drivers retry.',
    'Commit or abort them, or fork and end them; their owners then get an error, in most cases one that drivers retry.',
  ],
  [
    'Discard a sandbox you no longer need, or move the data folder with --data.',
    'Discard a sandbox you no longer need, or move the data folder.',
  ],
  [
    'Decide with --take NS:ID=a or =main, or leave them out with --only. "forkyard diff a" shows them.',
    'Decide, or leave them out. Review shows them.',
  ],
])('%s', (hint, shown) => expect(words(hint)).toBe(shown));

it('leaves a hint out that has no words of the window, and an error without one as it is', () => {
  expect(words('With --partial everything else is put back.')).toBe(undefined);
  const error = { code: 'usage', message: 'No.', retry: false } as const;
  expect(inWindowWords(error)).toBe(error);
});
