import { fromBase64, toBase64 } from '../../../shared/bson/value.ts';
import { ensureActor } from '../branches/actors.ts';
import { noteSource } from '../branches/demo.ts';
import { discard } from '../branches/discard.ts';
import { extend, keep, sleep, wake } from '../branches/expiry.ts';
import { fork } from '../branches/fork.ts';
import { importIntoBranch } from '../branches/import.ts';
import { reset } from '../branches/reset.ts';
import { presentBranch } from '../branches/rows.ts';
import { mainName } from '../branches/main-branch.ts';
import type { Workspace } from '../branches/workspace.ts';
import type { BranchRecord } from '../home/records.ts';
import { connectionString } from '../mongod/accounts.ts';
import { isUpload } from '../transfer/uploads.ts';
import type { Methods } from './service.ts';

const defaultActor = 'agent';

export const branchMethods: Methods<
  | 'branches.list'
  | 'branches.fork'
  | 'branches.uri'
  | 'branches.discard'
  | 'branches.keep'
  | 'branches.extend'
  | 'branches.wake'
  | 'branches.sleep'
  | 'branches.reset'
  | 'transfer.upload'
  | 'transfer.import'
> = {
  'branches.list': ({ rows }, { all = false }) => rows.list(all, true),

  async 'branches.fork'({ workspace, settings }, input) {
    const result = await fork(workspace, {
      name: input.name,
      from: input.from ?? mainName,
      ttlMs: input.ttlMs === undefined ? settings.current.defaultTtlMs : input.ttlMs,
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
    const first = actor === undefined ? branch.record.accounts[0] : undefined;
    const account = first ?? (await ensureActor(workspace, branch, actor ?? defaultActor));
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

  async 'transfer.upload'({ uploads }, { name, source: begun, bytes }) {
    const source = begun ?? (await uploads.begin(name));
    await uploads.append(source, fromBase64(bytes));
    return { source };
  },

  async 'branches.sleep'({ workspace }, { branch }) {
    return { branch: await present(workspace, await sleep(workspace, branch)) };
  },

  async 'branches.reset'({ workspace }, { branch }) {
    const { record, backup, entry } = await reset(workspace, branch);
    return { branch: await present(workspace, record), backup: backup.name, entry: entry._id };
  },

  async 'transfer.import'({ workspace, uploads, emit }, { source, into, db, collection, job }, { signal }) {
    const branch = await workspace.branch(into);
    const uploaded = isUpload(source);
    const result = await importIntoBranch(workspace, branch, {
      source: uploaded ? uploads.path(source) : source,
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
    }).finally(() => (uploaded ? uploads.remove(source) : undefined));
    await noteSource(workspace, branch, source);
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
