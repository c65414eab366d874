import { expect, test } from 'vitest';
import { ForkyardError } from '../../../shared/errors.ts';
import { whileMoving } from './while-moving.ts';

const stale = (moved: readonly object[]) => new ForkyardError('plan_stale', 'main moved', { details: { moved } });
const document = { ns: 'a.b', id: 'AQ==' };

/** Fails with each of these in turn, then succeeds. */
function failing(...errors: Error[]) {
  let asked = 0;
  const run = whileMoving(() => {
    const error = errors[asked];
    asked += 1;
    return error ? Promise.reject(error) : Promise.resolve('applied');
  });
  return { run, asked: () => asked };
}

test('documents that moved make a new plan, three times', async () => {
  const three = failing(stale([document]), stale([document, document]), stale([document]));
  expect(await three.run).toBe('applied');
  expect(three.asked()).toBe(4);
  const four = failing(...Array.from({ length: 4 }, () => stale([document])));
  await expect(four.run).rejects.toMatchObject({ code: 'plan_stale' });
  expect(four.asked()).toBe(4);
});

test.each([
  ['a collection that moved', stale([{ ns: 'a.b' }])],
  ['a plan that is not ready', stale([])],
  ['what must be decided', new ForkyardError('conflicts', 'decide')],
  ['a bug', new Error('bug')],
])('%s is told at once', async (_what, error) => {
  const { run, asked } = failing(error);
  await expect(run).rejects.toBe(error);
  expect(asked()).toBe(1);
});
