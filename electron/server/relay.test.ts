import { expect, test } from 'vitest';
import { connect } from '../../shared/rpc/connect.ts';
import { EventRing } from '../../shared/rpc/event-ring.ts';
import { memoryPair } from '../../shared/rpc/memory.ts';
import { serve } from '../../shared/rpc/serve.ts';
import { relay } from './relay.ts';

function relayed() {
  const [near, left] = memoryPair();
  const [right, far] = memoryPair();
  serve(far, { engine: { call: async (_method, input) => input as never }, events: new EventRing() });
  relay(left, right);
  return { client: connect(near), far };
}

test('calls and events pass a relay as they are', async () => {
  const { client } = relayed();
  expect(await client.call('log.list', { branch: 'ü' })).toEqual({ branch: 'ü' });
  expect(await client.subscribe(() => {})).toMatchObject({ gap: false });
});

test('when one side of a relay closes, the other is told', async () => {
  const { client, far } = relayed();
  far.close();
  await client.closed;
});
