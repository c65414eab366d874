import { expect, it } from 'vitest';
import { newAccount } from './accounts.ts';

it.each([
  ['agent:run-1', 'agent-run-1'],
  ['../x', 'x'],
  ['.hidden', 'hidden'],
  ['Jörg', 'J-rg'],
  ['测试', 'actor'],
  ['', 'actor'],
])('the actor %j has a user name that the server and a URI take as it is: %s', (actor, user) => {
  expect(newAccount(actor, 'schema')).toMatchObject({ actor, user });
});
