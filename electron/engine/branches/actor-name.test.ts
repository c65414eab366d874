import { expect, it } from 'vitest';
import { requireActorName } from './actor-name.ts';

it.each(['agent:run-1', 'x@y:z/ü', '测试', '__proto__', 'forkyard-bot', 'a b'])('%j can be an actor', (actor) => {
  expect(() => requireActorName(actor)).not.toThrow();
});

it.each([
  '',
  ' ',
  ' a',
  'a\nb',
  'a\u0000',
  '\u202eabc',
  'a\u2028b',
  'forkyard',
  'Forkyard',
  'TTL',
  'ttl ',
  'a'.repeat(201),
])('%j cannot be an actor: the record would not be told from another’s', (actor) => {
  expect(() => requireActorName(actor)).toThrow(
    expect.objectContaining({ code: 'name_invalid', hint: expect.any(String) }),
  );
});
