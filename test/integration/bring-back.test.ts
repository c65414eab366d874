import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestYard } from '../harness/in-process.ts';

let yard: TestYard;
beforeAll(async () => {
  yard = await TestYard.open();
  await yard.call('transfer.import', { source: 'sample:three', into: 'main' });
});
afterAll(() => yard.close());

it('a discarded sandbox comes back with its data, its credentials and its history', async () => {
  const { uri } = await yard.fork('gone');
  await (await yard.client('gone')).db('shop').collection('products').deleteMany({});
  await yard.call('branches.discard', { branch: 'gone' });
  const back = await yard.call('branches.wake', { branch: 'gone' });
  expect(back.branch).toMatchObject({ name: 'gone', state: 'live' });
  expect(Date.parse(back.branch.expiresAt!)).toBeGreaterThan(Date.now());
  expect((await yard.call('branches.uri', { branch: 'gone' })).uri).toBe(uri);
  const diff = await yard.call('diff.get', { branch: 'gone' });
  expect(diff).toMatchObject({ complete: true, summary: [{ ns: 'shop.products', removed: 3 }] });
});

it('a discarded sandbox waits in the trash while another has its name', async () => {
  await yard.fork('twice');
  await yard.call('branches.discard', { branch: 'twice' });
  await yard.fork('twice');
  expect((await yard.call('branches.wake', { branch: 'twice' })).branch.state).toBe('live');
  await yard.call('branches.discard', { branch: 'twice', now: true });
  expect((await yard.call('branches.wake', { branch: 'twice' })).branch.state).toBe('live');
});

it('one discarded at once is gone for good', async () => {
  await yard.fork('never');
  await yard.call('branches.discard', { branch: 'never', now: true });
  expect((await yard.refusal('branches.wake', { branch: 'never' })).code).toBe('unknown_branch');
});
