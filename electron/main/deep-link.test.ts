import { expect, test } from 'vitest';
import { linkAmong, parseDeepLink } from './deep-link.ts';

test('a link names a branch', () => {
  expect(parseDeepLink('forkyard://branch/price-update')).toBe('price-update');
  expect(parseDeepLink('FORKYARD://Branch/agent.run_1/')).toBe('agent.run_1');
});

test.each([
  'forkyard://branch/',
  'forkyard://branch/..',
  'forkyard://branch/../../etc/passwd',
  'forkyard://branch/a/b',
  'forkyard://branch/a?then=discard',
  'forkyard://branch/a#adopt',
  'forkyard://branch/%61',
  'forkyard://branch/<img src=x onerror=alert(1)>',
  'forkyard://branch/a b',
  'forkyard://branch/a\nforkyard://branch/b',
  'forkyard://user@branch/a',
  'forkyard://branch:80/a',
  'forkyard://adopt/a',
  'forkyard:branch/a',
  ' forkyard://branch/a',
  'https://branch/a',
  'javascript:alert(1)',
  `forkyard://branch/${'a'.repeat(64)}`,
])('%j is refused', (link) => expect(parseDeepLink(link)).toBeUndefined());

test('the link among the arguments is found, whatever it is', () => {
  expect(linkAmong(['/opt/forkyard', '--no-sandbox', 'forkyard://branch/a'])).toBe('forkyard://branch/a');
  expect(linkAmong(['/opt/forkyard', 'Forkyard:evil'])).toBe('Forkyard:evil');
  expect(linkAmong(['/opt/forkyard', '/home/me/forkyard/'])).toBeUndefined();
});
