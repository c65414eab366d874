import { toBase64 } from '../../../shared/bson/value.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { discard } from '../branches/discard.ts';
import { extend, keep, wake } from '../branches/expiry.ts';
import { fork } from '../branches/fork.ts';
import { importIntoBranch } from '../branches/import.ts';
import { presentBranch } from '../branches/rows.ts';
import { mainName, type Workspace } from '../branches/workspace.ts';
import type { BranchRecord } from '../home/records.ts';
import { connectionString, createAccount, newAccount } from '../mongod/accounts.ts';
import type { Methods } from './service.ts';

const defaultTtlMs = 60 * 60_000;
const defaultActor = 'agent';

export const branchMethods: Methods<
  | 'branches.list'
  | 'branches.fork'
  | 'branches.uri'
  | 'branches.discard'
  | 'branches.keep'
  | 'branches.extend'
  | 'branches.wake'
  | 'transfer.import'
> = {
  'branches.list': ({ rows }, { all = false }) => rows.list(all, true),

  async 'branches.fork'({ workspace }, input) {
    const result = await fork(workspace, {
      name: input.name,
      from: input.from ?? mainName,
      ttlMs: input.ttlMs === undefined ? defaultTtlMs : input.ttlMs,
      access: input.access ?? 'schema',
      actor: input.actor ?? defaultActor,
      empty: input.empty ?? false,
      ttlIndexes: input.ttlIndexes ?? false,
      endTransactions: input.endTransactions ?? false,
    });
    const ended = result.ended.map(({ client, ageMs }) => ({ client, ageMs }));
    return {
      branch: await present(workspace, result.branch.record),
      uri: result.uri,
      ...(ended.length > 0 ? { endedTransactions: ended } : {}),
      timings: result.timings,
    };
  },

  async 'branches.uri'({ workspace }, { branch: name, actor }) {
    const branch = await workspace.branch(name);
    const { accounts, access } = branch.record;
    const known = actor === undefined ? accounts[0] : accounts.find((account) => account.actor === actor);
    if (known) return { uri: connectionString(branch.server.port, known), actor: known.actor };
    const account = newAccount(actor ?? defaultActor, access);
    if (accounts.some(({ user }) => user === account.user)) {
      throw new ForkyardError(
        'name_taken',
        `"${actor}" reads like another actor of ${name} as a user name (${account.user}).`,
        {
          hint: 'Choose a name that differs in letters or digits.',
        },
      );
    }
    await createAccount(branch.client, account);
    await workspace.update(branch.record._id, { accounts: [...accounts, account] });
    return { uri: connectionString(branch.server.port, account), actor: account.actor };
  },

  async 'branches.discard'({ workspace }, { branch, now = false }) {
    const { record, trashedUntil } = await discard(workspace, branch, now);
    return {
      branch: await present(workspace, record),
      ...(trashedUntil ? { trashedUntil: trashedUntil.toISOString() } : {}),
    };
  },

  async 'branches.keep'({ workspace }, { branch }) {
    return { branch: await present(workspace, await keep(workspace, branch)) };
  },

  async 'branches.extend'({ workspace }, { branch, ttlMs }) {
    return { branch: await present(workspace, await extend(workspace, branch, ttlMs)) };
  },

  async 'branches.wake'({ workspace }, { branch }) {
    return { branch: await present(workspace, await wake(workspace, branch)) };
  },

  async 'transfer.import'({ workspace, emit }, { source, into, db, collection, job }, { signal }) {
    const branch = await workspace.branch(into);
    const result = await importIntoBranch(workspace, branch, {
      source,
      options: { db, collection },
      signal,
      onProgress: ({ text, done, total }) => {
        if (job === undefined) return;
        emit({
          type: 'progress',
          job,
          text,
          ...(done === undefined ? {} : { done }),
          ...(total === undefined ? {} : { total }),
        });
      },
    });
    return {
      collections: result.collections.map(({ ns, documents }) => ({ ns, documents })),
      problems: result.problems.map(({ ns, line, id, message }) => ({
        ...(ns === undefined ? {} : { ns }),
        ...(line === undefined ? {} : { line }),
        ...(id === undefined ? {} : { id: toBase64(id) }),
        message,
      })),
    };
  },
};

async function present(workspace: Workspace, record: BranchRecord) {
  const parent = record.parent === undefined ? null : await workspace.home.branches.findOne({ _id: record.parent });
  return presentBranch(record, new Map(parent ? [[parent._id, parent.name]] : []));
}
