import { addActor, changeAccess, listActors, removeActor, renewPassword, testConnection } from '../branches/actors.ts';
import { connectionString } from '../mongod/accounts.ts';
import type { Methods } from './service.ts';

export const actorMethods: Methods<
  'branches.test' | 'actors.list' | 'actors.add' | 'actors.access' | 'actors.renew' | 'actors.remove'
> = {
  async 'branches.test'({ workspace }, { branch, actor }) {
    const test = await testConnection(await workspace.branch(branch), actor);
    return { ...test, databases: [...test.databases] };
  },

  async 'actors.list'({ workspace }, { branch }) {
    const actors = await listActors(await workspace.branch(branch));
    return actors.map(({ account, connections, lastWriteAt, writes }) => ({
      actor: account.actor,
      user: account.user,
      access: account.access,
      connections,
      ...(lastWriteAt ? { lastWriteAt: lastWriteAt.toISOString() } : {}),
      writes,
    }));
  },

  async 'actors.add'({ workspace }, input) {
    const branch = await workspace.branch(input.branch);
    const account = await addActor(workspace, branch, input.actor, input.access ?? branch.record.access);
    const { actor, user, access } = account;
    return { uri: connectionString(branch.server.port, account), actor, user, access };
  },

  async 'actors.access'({ workspace }, { branch, actor, access }) {
    await changeAccess(workspace, await workspace.branch(branch), actor, access);
    return { actor, access };
  },

  async 'actors.renew'({ workspace }, { branch: name, actor }) {
    const branch = await workspace.branch(name);
    const account = await renewPassword(workspace, branch, actor);
    return { uri: connectionString(branch.server.port, account), actor };
  },

  async 'actors.remove'({ workspace }, { branch, actor }) {
    await removeActor(workspace, await workspace.branch(branch), actor);
    return { actor };
  },
};
