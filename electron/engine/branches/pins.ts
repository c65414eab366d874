import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { MongoServerError } from 'mongodb';
import { ForkyardError } from '../../../shared/errors.ts';
import { contentHash } from '../changes/content-hash.ts';
import { logEntry } from '../home/log-entry.ts';
import type { BranchRecord } from '../home/records.ts';
import { lastInheritedTime } from '../mongod/fork-time.ts';
import { cloneParent } from './clone-parent.ts';
import { remove } from './discard.ts';
import { branchFolder } from './folders.ts';
import { noteForkSequence, requireName } from './fork.ts';
import { startBranchServer } from './local-branch.ts';
import { changeAndLog } from './logged-change.ts';
import { unmake, type Making } from './making.ts';
import type { Workspace } from './workspace.ts';

/** A pin as the catalog has it: a branch whose files nobody ever runs a server on. */
export type PinRecord = BranchRecord & { readonly pin: NonNullable<BranchRecord['pin']> };

/**
 * Freezes a branch's present state under a name, with its content's hash. The files are cloned as a fork's are and stay
 * cold; what is hashed is a second clone, which is removed again. It costs a read of everything.
 * @throws ForkyardError `name_invalid`, `name_taken`, and what a fork may end in
 */
export async function pin(workspace: Workspace, branchName: string, name: string): Promise<PinRecord> {
  requireName(name);
  const source = await workspace.record(branchName);
  return workspace.whileOpen((signal) => make(workspace, source, name, signal));
}

async function make(workspace: Workspace, source: BranchRecord, name: string, signal: AbortSignal): Promise<PinRecord> {
  const record = await reserve(workspace, source, name);
  const making: Making = { work: [] };
  try {
    const cloned = await cloneParent(workspace, source, record, false);
    const started = performance.now();
    const { clusterTime, hash, collections } = await hashCopy(workspace, record, signal);
    const pinned = {
      of: source.name,
      hash,
      collections: collections.map((each) => ({ ...each })),
      hashMs: Math.round(performance.now() - started),
    };
    const text = `Pinned ${source.name} as ${name}`;
    const entry = logEntry({ kind: 'pin', branch: source.name, branchId: source._id, text });
    making.entry = entry;
    const { record: frozen } = await changeAndLog(workspace, record._id, {
      set: { state: 'asleep', disk: cloned.disk, forkPoint: { clusterTime }, pin: pinned },
      unset: [],
      entry,
    });
    void noteForkSequence(workspace, frozen, workspace.live.get(source._id));
    return frozen as PinRecord;
  } catch (error) {
    throw await unmake(workspace, record._id, making, error);
  }
}

async function reserve(workspace: Workspace, source: BranchRecord, name: string): Promise<BranchRecord> {
  const record: BranchRecord = {
    _id: randomBytes(6).toString('hex'),
    name,
    parent: source._id,
    state: 'starting',
    access: source.access,
    accounts: [],
    forkedAt: new Date(),
    ttlIndexes: source.ttlIndexes,
    pin: { of: source.name, hash: '', collections: [], hashMs: 0 },
    active: true,
  };
  try {
    await workspace.home.branches.insertOne(record);
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.code !== 11000) throw error;
    throw new ForkyardError('name_taken', `There is a branch or a pin "${name}" already.`, {
      hint: 'Choose another name.',
    });
  }
  return record;
}

/** Runs a server on a copy of the pin's files, never on those, and removes it. */
async function hashCopy(workspace: Workspace, record: BranchRecord, signal: AbortSignal) {
  const copy = { _id: `${record._id}-hash`, ttlIndexes: false };
  const { root } = branchFolder(workspace.data, copy._id);
  try {
    await cloneParent(workspace, record, copy, false);
    const { server, client } = await startBranchServer(workspace, copy, false, signal);
    try {
      const clusterTime = await lastInheritedTime(client);
      return { clusterTime, ...(await contentHash(client)) };
    } finally {
      await client.close();
      await server.kill();
    }
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** All pins, oldest first. */
export async function pins(workspace: Workspace): Promise<PinRecord[]> {
  const ready = { active: true, pin: { $exists: true }, state: 'asleep' as const };
  return (await workspace.home.branches.find(ready).sort({ forkedAt: 1 }).toArray()) as PinRecord[];
}

/** Removes a pin and its files; what was forked from it has its own. @throws ForkyardError `unknown_pin` */
export async function unpin(workspace: Workspace, name: string): Promise<void> {
  const all = await pins(workspace);
  const record = all.find((each) => each.name === name);
  if (!record) {
    throw new ForkyardError('unknown_pin', `There is no pin "${name}".`, {
      hint: all.length === 0 ? 'There are no pins.' : `The pins are: ${all.map((each) => each.name).join(', ')}.`,
    });
  }
  const { _id, parent = _id, pin } = record;
  const text = `Removed the pin ${name} of ${pin.of}`;
  const entry = logEntry({ kind: 'unpin', branch: pin.of, branchId: parent, text });
  await workspace.turns.take(_id, () => remove(workspace, record, entry));
}
