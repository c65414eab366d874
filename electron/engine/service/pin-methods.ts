import type { Pin } from '../../../shared/api.ts';
import { pin, pins, unpin, type PinRecord } from '../branches/pins.ts';
import { contentHash } from '../changes/content-hash.ts';
import { lastWriteTime } from '../mongod/replica.ts';
import type { Methods } from './service.ts';

export const pinMethods: Methods<'pins.create' | 'pins.list' | 'pins.remove' | 'branches.hash'> = {
  'pins.create': async ({ workspace }, { branch, name }) => present(await pin(workspace, branch, name)),

  'pins.list': async ({ workspace }) => (await pins(workspace)).map(present),

  async 'pins.remove'({ workspace }, { pin: name }) {
    await unpin(workspace, name);
    return { unpinned: name };
  },

  async 'branches.hash'({ workspace }, { branch: name }) {
    const { client } = await workspace.branch(name);
    const { hash, collections } = await contentHash(client, await lastWriteTime(client));
    return { hash, collections: [...collections] };
  },
};

function present({ name, pin: { of, hash, collections, hashMs }, forkedAt, disk }: PinRecord): Pin {
  return {
    name,
    branch: of,
    hash,
    collections: collections.map((each) => ({ ...each })),
    createdAt: forkedAt.toISOString(),
    ...(disk ? { disk } : {}),
    hashMs,
  };
}
