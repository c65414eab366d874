/** Branches, who may use them, and what they are frozen as or compared with. */
import { z } from 'zod';
import { AccessLevel, Bson, Namespace, Time, method } from './values.ts';

export const BranchState = z.enum(['starting', 'live', 'asleep', 'expired', 'trashed', 'failed']);
export type BranchState = z.infer<typeof BranchState>;

/** Cluster time as the server prints it: seconds and increment. */
export const ClusterTime = z.object({ t: z.number().int(), i: z.number().int() });

export const ForkPoint = z.object({
  clusterTime: ClusterTime,
  /** The parent's last history sequence at the fork; left out until the parent's capture has passed it. */
  seq: z.number().int().optional(),
});

/** A sandbox as a fork answers it. */
export const Branch = z.object({
  id: z.string(),
  name: z.string(),
  parent: z.string().optional(),
  state: BranchState,
  port: z.number().int().optional(),
  access: AccessLevel,
  forkPoint: ForkPoint.optional(),
  forkedAt: Time.optional(),
  /** Left out where the branch is kept. */
  expiresAt: Time.optional(),
  disk: z.enum(['shared', 'copied']).optional(),
});
export type Branch = z.infer<typeof Branch>;

/** A branch as the list shows it. `ahead` and `behind` count touched documents and schema items. */
export const BranchRow = Branch.extend({
  ahead: z.number().int(),
  behind: z.number().int().optional(),
  /** Net effect so far, by kind; `conflicts` is a subset of the three. Left out until it has been computed. */
  counts: z
    .object({ added: z.number(), modified: z.number(), removed: z.number(), conflicts: z.number(), schema: z.number() })
    .optional(),
  /** How far capture is behind the server, milliseconds. */
  lagMs: z.number().optional(),
  documents: z.number().int().optional(),
  sizeBytes: z.number().int().optional(),
  databases: z.number().int().optional(),
  /** The last captured sequence. */
  seq: z.number().int(),
  actors: z.array(z.string()),
  /** Until when a discarded or expired branch can be brought back. */
  goneAt: Time.optional(),
  /** Why the branch is failed, why its expiry is held, or what its recording waits for. */
  note: z.string().optional(),
});
export type BranchRow = z.infer<typeof BranchRow>;

export const Timings = z.object({
  lock_ms: z.number(),
  copy_ms: z.number(),
  boot_ms: z.number(),
  capture_ready_ms: z.number(),
  total_ms: z.number(),
});

/** One credential of a branch and what came of it. */
export const ActorRow = z.object({
  actor: z.string(),
  user: z.string(),
  access: AccessLevel,
  /** Open connections that have signed in with it. */
  connections: z.number().int(),
  lastWriteAt: Time.optional(),
  /** Among the branch's newest 20,000 writes. */
  writes: z.object({ added: z.number().int(), modified: z.number().int(), removed: z.number().int() }),
});
export type ActorRow = z.infer<typeof ActorRow>;

export const CollectionHash = z.object({
  ns: Namespace,
  documents: z.number().int(),
  bytes: z.number().int(),
  /** SHA-256 of the documents' bytes in the order of `_id`, hex. */
  hash: z.string(),
});

/** A branch frozen under a name. `hash` covers all data, options, indexes and views. */
export const Pin = z.object({
  name: z.string(),
  branch: z.string(),
  hash: z.string(),
  collections: z.array(CollectionHash),
  createdAt: Time,
  disk: z.enum(['shared', 'copied']).optional(),
  hashMs: z.number(),
});
export type Pin = z.infer<typeof Pin>;

export const Verification = z.object({
  branch: z.string(),
  /** Left out for main. */
  parent: z.string().optional(),
  /** The recorded net effect of the branch is the whole truth: nothing differed and nothing was left unverified. */
  exact: z.boolean(),
  /** The parent is what it was at the fork and its own recorded changes, adoptions among them. Left out for main. */
  parentExact: z.boolean().optional(),
  differences: z.object({
    /** Documents that a history did not know rightly, on both sides. */
    count: z.number().int(),
    /** The first `limit` of them (100). */
    first: z.array(
      z.object({
        /** Whose history it was. */
        branch: z.string(),
        ns: Namespace,
        id: Bson,
        /** It is there and the history says it is not; it is not there and should be; its bytes are others. */
        kind: z.enum(['unexpected', 'missing', 'different']),
      }),
    ),
  }),
  /** What could not be compared. `ns` is left out where it is the branch as a whole. */
  unverified: z.array(z.object({ ns: Namespace.optional(), reason: z.string() })),
  collections: z.number().int(),
  documents: z.number().int(),
  /** Read of both sides. */
  bytes: z.number().int(),
  seconds: z.number(),
  /** Megabytes (10^6) of both sides a second. */
  mbPerSecond: z.number(),
});
export type Verification = z.infer<typeof Verification>;

export const branchApi = {
  'branches.list': method(z.object({ all: z.boolean().optional() }), z.array(BranchRow)),
  'branches.fork': method(
    z.object({
      name: z.string(),
      from: z.string().optional(),
      /** `null` keeps the sandbox for ever; left out = the workspace's default of one hour. */
      ttlMs: z.number().int().positive().nullable().optional(),
      access: AccessLevel.optional(),
      actor: z.string().optional(),
      empty: z.boolean().optional(),
      ttlIndexes: z.boolean().optional(),
      endTransactions: z.boolean().optional(),
    }),
    z.object({
      branch: Branch,
      uri: z.string(),
      endedTransactions: z.array(z.object({ client: z.string(), ageMs: z.number() })).optional(),
      timings: Timings,
    }),
  ),
  'branches.uri': method(
    z.object({ branch: z.string(), actor: z.string().optional() }),
    z.object({ uri: z.string(), actor: z.string() }),
  ),
  /** Connects as a program would that has nothing but the connection string. */
  'branches.test': method(
    z.object({ branch: z.string(), actor: z.string().optional() }),
    z.object({
      actor: z.string(),
      access: AccessLevel,
      ms: z.number(),
      version: z.string(),
      databases: z.array(z.string()),
    }),
  ),
  'actors.list': method(z.object({ branch: z.string() }), z.array(ActorRow)),
  'actors.add': method(
    z.object({ branch: z.string(), actor: z.string().min(1).max(200), access: AccessLevel.optional() }),
    z.object({ uri: z.string(), actor: z.string(), user: z.string(), access: AccessLevel }),
  ),
  /** Another access level under the same URI. */
  'actors.access': method(
    z.object({ branch: z.string(), actor: z.string(), access: AccessLevel }),
    z.object({ actor: z.string(), access: AccessLevel }),
  ),
  /** A new password; the old one is refused at once, on open connections too. */
  'actors.renew': method(
    z.object({ branch: z.string(), actor: z.string() }),
    z.object({ uri: z.string(), actor: z.string() }),
  ),
  'actors.remove': method(z.object({ branch: z.string(), actor: z.string() }), z.object({ actor: z.string() })),
  'branches.discard': method(
    z.object({ branch: z.string(), now: z.boolean().optional() }),
    z.object({ branch: Branch, trashedUntil: Time.optional() }),
  ),
  'branches.keep': method(z.object({ branch: z.string() }), z.object({ branch: Branch })),
  'branches.extend': method(
    z.object({ branch: z.string(), ttlMs: z.number().int().positive() }),
    z.object({ branch: Branch }),
  ),
  /** Stop a sandbox's server; its URI refuses until it is woken, its deadline goes on. */
  'branches.sleep': method(z.object({ branch: z.string() }), z.object({ branch: Branch })),
  /**
   * Give a sandbox its parent's present state (one forked `empty` becomes empty again) under the same name, URI and
   * credentials; connections break and come back, and its `id` is a new one. What it was stays, with its history, as the
   * sleeping branch `backup`, which expires after a day; `log.undo` of `entry` brings it back.
   */
  'branches.reset': method(
    z.object({ branch: z.string() }),
    z.object({ branch: Branch, backup: z.string(), entry: z.string() }),
  ),
  /**
   * Freezes a branch under a name, with its content's hash; `fork` takes the name as `from`. The fork of a pin is compared
   * with, and adopted into, the branch that the pin is of. It reads everything once (`hashMs`) and outlives its branch.
   */
  'pins.create': method(z.object({ branch: z.string(), name: z.string() }), Pin),
  'pins.list': method(z.object({}), z.array(Pin)),
  'pins.remove': method(z.object({ pin: z.string() }), z.object({ unpinned: z.string() })),
  /** The content's hash of a running branch, at one moment: equal to a pin's where everything is. Reads everything once. */
  'branches.hash': method(
    z.object({ branch: z.string() }),
    z.object({ hash: z.string(), collections: z.array(CollectionHash) }),
  ),
  /** Bring a sleeping, expired or discarded branch back: its server starts again under the same URI. */
  'branches.wake': method(z.object({ branch: z.string() }), z.object({ branch: Branch })),
  /**
   * Compares a branch exactly with its parent and with both histories, document by document, as bytes. What a history did
   * not know is in it afterwards. For main, with its history alone. Progress comes as `progress` events that carry `job`.
   */
  'branches.verify': method(
    z.object({
      branch: z.string(),
      limit: z.number().int().nonnegative().max(10_000).optional(),
      job: z.string().optional(),
    }),
    Verification,
  ),
} as const;
