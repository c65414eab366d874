/**
 * The one place where a method of the engine is declared: `name -> {input, output}`, as zod schemas.
 * The engine's service, the RPC client, the command line and the renderer are all typed from here.
 *
 * Documents and values cross as {@link Bson}: base64 of one type byte (0x03 for a document) and the value's exact bytes.
 * `shared/bson` turns them into trees, canonical Extended JSON text, and back. They never cross as JavaScript objects:
 * those lose number types, key order, duplicate names and `__proto__`.
 */
import { z } from 'zod';

/** Base64 of a BSON value: its type byte followed by its bytes as they stand in a document. */
export const Bson = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/);
export type Bson = z.infer<typeof Bson>;

/** A time, ISO 8601 in UTC. */
const Time = z.string();
/** `database.collection` */
const Namespace = z.string();
/** Names and array indexes from the document's root. */
export const FieldPath = z.array(z.union([z.string(), z.number().int().nonnegative()]));
export type FieldPath = z.infer<typeof FieldPath>;

export const BranchState = z.enum(['starting', 'live', 'asleep', 'expired', 'trashed', 'failed']);
export type BranchState = z.infer<typeof BranchState>;
export const AccessLevel = z.enum(['schema', 'readWrite', 'read']);
export type AccessLevel = z.infer<typeof AccessLevel>;

/** Cluster time as the server prints it: seconds and increment. */
const ClusterTime = z.object({ t: z.number().int(), i: z.number().int() });

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
  /** Why the branch is failed, or why its expiry is held. */
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

/** One captured write (or a gap, or an import). `op` is the server's operationType, `import` or `gap`. */
export const Change = z.object({
  seq: z.number().int(),
  time: Time,
  op: z.string(),
  ns: z.string().optional(),
  id: Bson.optional(),
  actor: z.string().optional(),
  /** Where only "one of" is known. */
  actors: z.array(z.string()).optional(),
  transaction: z.string().optional(),
  before: Bson.optional(),
  after: Bson.optional(),
  /** True where an image was folded from update descriptions; a gap tells whether that was verified. */
  folded: z.boolean().optional(),
  /** What a schema event, an import or a gap says of itself. */
  detail: z.record(z.string(), z.unknown()).optional(),
});
export type Change = z.infer<typeof Change>;

export const MergeClass = z.enum(['clean', 'convergent', 'divergent']);
export const FieldChange = z.object({
  path: FieldPath,
  base: Bson.optional(),
  parent: Bson.optional(),
  branch: Bson.optional(),
  class: MergeClass,
  /** An order-only change of the object at `path`: the three sides are the names in order. */
  order: z.literal(true).optional(),
});
export type FieldChange = z.infer<typeof FieldChange>;

export const ChangeKind = z.enum(['added', 'modified', 'removed']);
export type ChangeKind = z.infer<typeof ChangeKind>;
export const DocumentChange = z.object({
  ns: Namespace,
  id: Bson,
  kind: ChangeKind,
  conflict: z.boolean(),
  fields: z.array(FieldChange),
});
export type DocumentChange = z.infer<typeof DocumentChange>;

const SchemaType = z.enum(['collection', 'options', 'validator', 'view', 'index', 'rename']);
export const SchemaChange = z.object({
  type: SchemaType,
  kind: ChangeKind,
  ns: Namespace,
  name: z.string().optional(),
  /** How many documents a created or dropped collection holds. */
  documents: z.number().int().optional(),
  base: Bson.optional(),
  parent: Bson.optional(),
  branch: Bson.optional(),
  conflict: z.boolean(),
  /** Documents of a dropped collection that the parent changed since, by `_id`: at most 100. */
  edited: z.array(Bson).optional(),
});
export type SchemaChange = z.infer<typeof SchemaChange>;

export const Gap = z.object({
  ns: z.string().optional(),
  from: Time.optional(),
  to: Time.optional(),
  reason: z.string(),
  /** True once an exact comparison has settled what changed. */
  settled: z.boolean(),
});

export const NamespaceSummary = z.object({
  ns: Namespace,
  added: z.number().int(),
  modified: z.number().int(),
  removed: z.number().int(),
  conflicts: z.number().int(),
});

export const Diff = z.object({
  branch: z.string(),
  parent: z.string(),
  complete: z.boolean(),
  gaps: z.array(Gap),
  summary: z.array(NamespaceSummary),
  schema: z.array(SchemaChange),
  documents: z.array(DocumentChange),
  /** Pass as `after` for the next page. */
  next: z.string().optional(),
  /** When both sides were compared. */
  comparedAt: Time,
});
export type Diff = z.infer<typeof Diff>;

/**
 * One schema item of a collection, by what its {@link SchemaChange} says: `kind` tells a dropped collection from the one
 * that was made under its name, `name` is an index's. What is left out matches every item.
 */
export const SchemaTarget = z.object({
  type: SchemaType.optional(),
  kind: ChangeKind.optional(),
  name: z.string().optional(),
});
export type SchemaTarget = z.infer<typeof SchemaTarget>;

/**
 * What a plan takes in or leaves out: a collection with its documents and schema items, a document of it, a field of that,
 * or (with `schema`) schema items of it alone.
 */
export const Target = z.object({
  ns: Namespace,
  id: Bson.optional(),
  path: FieldPath.optional(),
  schema: SchemaTarget.optional(),
});
export type Target = z.infer<typeof Target>;

/** A decided conflict: take a side by its branch's name, or (not for schema items) set an edited result. */
export const Decision = z.object({
  target: Target,
  take: z.union([z.object({ side: z.string() }), z.object({ value: Bson })]),
});
export type Decision = z.infer<typeof Decision>;

const Selection = z.object({
  /** Only these; left out = everything. */
  only: z.array(Target).optional(),
  /** All but these. */
  except: z.array(Target).optional(),
  take: z.array(Decision).optional(),
  /** Leave out schema changes. */
  documentsOnly: z.boolean().optional(),
  /** Any edit of one document on both sides is a conflict, also where the fields differ. */
  strict: z.boolean().optional(),
});

export const Check = z.object({
  name: z.string(),
  ok: z.boolean(),
  /** One sentence. */
  detail: z.string(),
});

export const PlanItem = z.object({
  ns: Namespace,
  id: Bson.optional(),
  /** What will happen to the parent: insert, replace, delete, or the name of a schema command. */
  action: z.string(),
  expect: Bson.optional(),
  result: Bson.optional(),
});

export const LogEntry = z.object({
  entry: z.string(),
  time: Time,
  kind: z.string(),
  branch: z.string(),
  actor: z.string().optional(),
  items: z.number().int().optional(),
  undoneBy: z.string().optional(),
  /** One sentence for people. */
  text: z.string(),
  /** True where `log.undo` can take it back. */
  undoable: z.boolean(),
  /** True where `log.undoPlan` can show first what that would change. */
  previewable: z.boolean().optional(),
});
export type LogEntry = z.infer<typeof LogEntry>;

const Applied = z.object({
  applied: z.number().int(),
  entry: z.string().optional(),
  /** What was shown and not carried over, a sentence each; left out when there is none. */
  leftOut: z.array(z.string()).optional(),
});

const CollectionHash = z.object({
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

/** A collection, view or time-series collection as the Data tab lists it. */
export const CollectionInfo = z.object({
  ns: Namespace,
  name: z.string(),
  type: z.enum(['collection', 'view', 'timeseries']),
  /** Estimated, as the server counts without looking; left out for views and time-series collections. */
  documents: z.number().int().optional(),
  /** Uncompressed, without indexes; left out for views. */
  sizeBytes: z.number().int().optional(),
  /** `spec` is the server's whole specification (`key`, `name`, `unique`, …). */
  indexes: z.array(z.object({ name: z.string(), spec: Bson, sizeBytes: z.number().int().optional() })),
  /** Its create options, the validator among them; of a view `viewOn` and `pipeline`. */
  options: Bson,
  validator: Bson.optional(),
});
export type CollectionInfo = z.infer<typeof CollectionInfo>;

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

/**
 * A moment of a branch: right behind the change with this sequence (0 = as it began), or at this time. One that lies
 * inside a transaction is behind all of it: its writes happened together.
 */
export const Moment = z.union([z.object({ seq: z.number().int().nonnegative() }), z.object({ time: Time })]);
export type Moment = z.infer<typeof Moment>;

/** The moment that was meant: behind this change. `time` is left out where nothing had happened yet. */
const MomentAt = z.object({ seq: z.number().int(), time: Time.optional() });

/** A plan that goes back, stored and not yet applied. `plan.items` lists it, `plan.apply` carries it out. */
const BackPlan = z.object({
  plan: z.string(),
  items: z.number().int(),
  conflicts: z.number().int(),
  checks: z.array(Check),
  /** What stays as it is, and why, a sentence each; left out when there is none. */
  leftOut: z.array(z.string()).optional(),
});

export const Status = z.object({
  version: z.string(),
  pid: z.number().int(),
  data: z.string(),
  mongod: z.object({ version: z.string(), path: z.string(), source: z.string() }),
  /** Resident memory in bytes: the engine's own and that of all its servers. */
  memory: z.object({ engine: z.number(), servers: z.number() }),
  /** Bytes on disk as files count them, and how many of those the file system shares between branches. */
  disk: z.object({ used: z.number(), free: z.number(), trash: z.number(), shared: z.boolean() }),
  web: z.object({ url: z.string() }).optional(),
  /** True where main holds the sample shop and nothing was imported beside it: the demo can be reset. */
  demo: z.boolean().optional(),
});
export type Status = z.infer<typeof Status>;

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

/** What a person sets for a workspace. */
const WorkspaceSettings = z.object({
  /** Path of the mongod to use; left out = found by Forkyard. */
  mongod: z.string().optional(),
  /** Cache of each branch's server, MB; a mongod takes no less than 256. */
  cacheMB: z.number().int().min(256).max(65_536),
  /** Life of a sandbox that is forked without one, milliseconds; null keeps it. */
  defaultTtlMs: z.number().int().positive().nullable(),
});
export const SettingsState = z.object({
  settings: WorkspaceSettings,
  /** The mongod in use, and what its choice came from. */
  mongod: z.object({ version: z.string(), path: z.string(), source: z.string() }),
  /** True where `FORKYARD_MONGOD` goes before the setting. */
  mongodByEnvironment: z.boolean(),
  data: z.string(),
});
export type SettingsState = z.infer<typeof SettingsState>;

const method = <I extends z.ZodType, O extends z.ZodType>(input: I, output: O) => ({ input, output });

export const api = {
  'engine.status': method(z.object({}), Status),
  /** Turns the loopback web on; `url` carries a one-time token in its fragment. */
  'engine.web': method(
    z.object({ port: z.number().int().min(0).max(65535).optional() }),
    z.object({ url: z.string(), pid: z.number().int(), data: z.string() }),
  ),
  /** Versions, states, sizes and the log's end as a text for a bug report: no data, no credentials, no names of people's own. */
  'engine.diagnostics': method(z.object({}), z.object({ text: z.string() })),
  'engine.stop': method(z.object({}), z.object({ stopped: z.boolean() })),

  'settings.get': method(z.object({}), SettingsState),
  /** Changes what is given. `mongod: null` lets Forkyard find one again; another mongod is used from the next start on. */
  'settings.set': method(
    WorkspaceSettings.partial().extend({ mongod: z.string().min(1).nullable().optional() }),
    SettingsState,
  ),

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
   * Hands a file over piece by piece, for a window that knows no path of it. The first call names the file and answers
   * the `source` that the next ones and the import name; it is gone once it was imported.
   */
  'transfer.upload': method(
    z.object({ name: z.string().max(1_000), source: z.string().optional(), bytes: z.base64() }),
    z.object({ source: z.string() }),
  ),
  /**
   * Imports into a branch. `source` is a `sample:` name, a MongoDB URI, an absolute path of a file, or an upload.
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

  /**
   * Imports into a branch. `source` is a `sample:` name, a MongoDB URI, or an absolute path of a file.
   * Progress comes as `progress` events that carry `job`.
   */
  'transfer.import': method(
    z.object({
      source: z.string(),
      into: z.string(),
      db: z.string().optional(),
      collection: z.string().optional(),
      job: z.string().optional(),
    }),
    z.object({
      collections: z.array(z.object({ ns: Namespace, documents: z.number().int() })),
      problems: z.array(
        z.object({
          ns: z.string().optional(),
          line: z.number().int().optional(),
          id: Bson.optional(),
          message: z.string(),
        }),
      ),
    }),
  ),

  /** Everything a live branch holds, by name; `admin`, `local`, `config` and the server's own collections left out. */
  'data.collections': method(
    z.object({ branch: z.string() }),
    z.object({ databases: z.array(z.object({ name: z.string(), collections: z.array(CollectionInfo) })) }),
  ),
  /**
   * A page of a collection's documents, read-only. `filter` and `sort` are text in shell notation or Extended JSON; errors
   * `query_invalid` (`details: {what, line, column}` where it cannot be read), `query_refused`, `query_slow`. Without both,
   * documents come by `_id`. `after` is the `next` of the page before. A page may hold fewer than `limit` large documents.
   */
  'data.documents': method(
    z.object({
      branch: z.string(),
      ns: Namespace,
      filter: z.string().max(100_000).optional(),
      sort: z.string().max(10_000).optional(),
      skip: z.number().int().nonnegative().optional(),
      after: z.string().optional(),
      limit: z.number().int().positive().max(1000).optional(),
    }),
    z.object({ documents: z.array(Bson), next: z.string().optional() }),
  ),

  /** The tour's script: writes to a sandbox of the sample shop through its connection string alone. */
  'demo.change': method(z.object({ branch: z.string() }), z.object({ actor: z.string() })),
  /** Every sandbox goes to the trash and main's sample shop is imported anew. */
  'demo.reset': method(
    z.object({ job: z.string().optional() }),
    z.object({ discarded: z.number().int(), documents: z.number().int() }),
  ),

  /**
   * A page of history, ascending, `after` exclusive. With `waitMs` it answers as soon as there is something after `after`
   * (long poll): this is how a feed follows. With `before` it pages backwards from there (exclusive), still ascending.
   * `settle` first waits until capture has passed the time of the request.
   */
  'changes.page': method(
    z.object({
      branch: z.string(),
      after: z.number().int().nonnegative().optional(),
      before: z.number().int().positive().optional(),
      limit: z.number().int().positive().max(5000).optional(),
      waitMs: z.number().int().nonnegative().max(30_000).optional(),
      settle: z.boolean().optional(),
    }),
    z.object({ changes: z.array(Change), last: z.number().int(), complete: z.boolean() }),
  ),
  /** Everything that happened to one document, oldest first. */
  'changes.ofDocument': method(
    z.object({ branch: z.string(), ns: Namespace, id: Bson, limit: z.number().int().positive().max(1000).optional() }),
    z.object({ changes: z.array(Change) }),
  ),

  'diff.get': method(
    z.object({
      branch: z.string(),
      only: z.array(Target).optional(),
      against: z.string().optional(),
      /** Leave the documents out. */
      summary: z.boolean().optional(),
      limit: z.number().int().positive().max(10_000).optional(),
      after: z.string().optional(),
      /** Keep only documents with conflicts. */
      conflictsOnly: z.boolean().optional(),
      /** Any edit of one document on both sides is a conflict. */
      strict: z.boolean().optional(),
      /** Only the page of documents: answered as soon as it is full, `summary` and `schema` stay empty. */
      listing: z.boolean().optional(),
    }),
    Diff,
  ),
  /** The three whole sides of one document. One that the branch never touched has its own bytes as base, and no `change`. */
  'diff.document': method(
    z.object({ branch: z.string(), ns: Namespace, id: Bson, strict: z.boolean().optional() }),
    z.object({
      change: DocumentChange.optional(),
      base: Bson.optional(),
      parent: Bson.optional(),
      branch: Bson.optional(),
      writes: z.object({ count: z.number().int(), lastAt: Time.optional(), actors: z.array(z.string()) }),
    }),
  ),

  'plan.create': method(
    Selection.extend({ branch: z.string() }),
    z.object({
      plan: z.string(),
      items: z.number().int(),
      conflicts: z.number().int(),
      checks: z.array(Check),
      parent: z.string(),
    }),
  ),
  'plan.items': method(
    z.object({
      plan: z.string(),
      after: z.number().int().optional(),
      limit: z.number().int().positive().max(1000).optional(),
    }),
    z.object({ items: z.array(PlanItem), mongosh: z.string() }),
  ),
  'plan.apply': method(z.object({ plan: z.string(), job: z.string().optional() }), Applied),
  /** plan + apply in one. Undecided conflicts: error `conflicts`, nothing changed. */
  'plan.adopt': method(Selection.extend({ branch: z.string() }), Applied),

  /**
   * What differs between a branch as it was at a moment and as it is now. Counts are of what happened since:
   * `added` documents were not there then. Documents come a page at a time.
   */
  'restore.preview': method(
    z.object({
      branch: z.string(),
      to: Moment,
      ns: Namespace.optional(),
      after: z.string().optional(),
      limit: z.number().int().nonnegative().max(10_000).optional(),
    }),
    z.object({
      at: MomentAt,
      summary: z.array(NamespaceSummary.omit({ conflicts: true })),
      schema: z.array(z.object({ ns: Namespace, text: z.string() })),
      documents: z.array(z.object({ ns: Namespace, id: Bson, kind: ChangeKind })),
      /** Pass as `after` for the next page. */
      next: z.string().optional(),
      /** What could not be restored, and why, a sentence each; left out when there is none. */
      leftOut: z.array(z.string()).optional(),
    }),
  ),
  /** One document as it was at a moment and as it is now; left out where it did not or does not exist. */
  'restore.document': method(
    z.object({ branch: z.string(), ns: Namespace, id: Bson, to: Moment }),
    z.object({ at: MomentAt, then: Bson.optional(), now: Bson.optional() }),
  ),
  /** Plans to put a branch back to a moment, in place. Nothing changes before `plan.apply`. */
  'restore.plan': method(z.object({ branch: z.string(), to: Moment }), BackPlan.extend({ at: MomentAt })),
  /**
   * Forks a branch and puts the fork back to a moment of the branch. Where something cannot be restored nothing is made,
   * unless `partial`: error `restore_incomplete` with `leftOut`.
   */
  'restore.branch': method(
    z.object({
      branch: z.string(),
      to: Moment,
      as: z.string(),
      partial: z.boolean().optional(),
      ttlMs: z.number().int().positive().nullable().optional(),
    }),
    Applied.extend({ branch: Branch, uri: z.string(), at: MomentAt }),
  ),
  /**
   * Plans to take changes of a branch back inside it, field by field: what others changed later in the same documents
   * stays. Where both changed the same, it is a conflict: such a document is listed and left out of the plan.
   */
  'changes.undo': method(
    z.object({
      branch: z.string(),
      what: z.union([
        z.object({ seqs: z.array(z.number().int().positive()).min(1).max(10_000) }),
        z.object({ from: z.number().int().positive(), to: z.number().int().positive() }),
        z.object({ transaction: z.string() }),
        z.object({ actor: z.string() }),
      ]),
    }),
    BackPlan.extend({
      /** The first hundred. `base` is what the change left, `parent` what is there now, `branch` what was there before. */
      conflicting: z.array(DocumentChange),
    }),
  ),

  /**
   * When a branch was written to: stretches of time in which something happened, in order. `seq` is the last change in
   * one, `gap` says that its changes are not all known.
   */
  'changes.track': method(
    z.object({
      branch: z.string(),
      /** Left out = from the branch's beginning. */
      from: Time.optional(),
      /** How many stretches the time up to now is cut into. */
      stretches: z.number().int().positive().max(1000),
    }),
    z.object({
      from: Time,
      to: Time,
      last: z.number().int(),
      bars: z.array(
        z.object({
          index: z.number().int(),
          seq: z.number().int(),
          added: z.number().int(),
          modified: z.number().int(),
          removed: z.number().int(),
          gap: z.boolean(),
        }),
      ),
    }),
  ),

  'log.list': method(z.object({ branch: z.string().optional() }), z.array(LogEntry)),
  /** Plans to take a `previewable` entry back, to look at first; `plan.apply` carries it out. Errors as `log.undo`. */
  'log.undoPlan': method(z.object({ entry: z.string() }), BackPlan),
  /** Takes an entry back. Of a reset or a discard: brings `branch` back whole, and `applied` is 1. */
  'log.undo': method(z.object({ entry: z.string() }), Applied.extend({ branch: z.string().optional() })),
} as const;

export type Api = typeof api;
export type Method = keyof Api;
/** What a caller passes. */
export type Input<M extends Method> = z.input<Api[M]['input']>;
/** What the engine gets after parsing. */
export type Parsed<M extends Method> = z.output<Api[M]['input']>;
export type Output<M extends Method> = z.output<Api[M]['output']>;

/**
 * What the engine tells unasked. Each event has a number; a client that reconnects passes the last one it saw.
 * They say *that* something changed; the client asks for what it shows.
 */
export const Event = z.discriminatedUnion('type', [
  /** The branch list changed: forked, state, counts, expiry. The whole list, small by nature. */
  z.object({ type: z.literal('branches'), branches: z.array(BranchRow) }),
  /** The log grew. */
  z.object({ type: z.literal('log'), entry: LogEntry }),
  z.object({
    type: z.literal('progress'),
    job: z.string(),
    text: z.string(),
    done: z.number().optional(),
    total: z.number().optional(),
  }),
  /** A sandbox will expire soon, or has. */
  z.object({ type: z.literal('expiry'), branch: z.string(), state: z.enum(['soon', 'expired', 'gone']), at: Time }),
]);
export type Event = z.infer<typeof Event>;

/** Frames on a transport, one JSON text each. */
export const ClientFrame = z.union([
  z.object({ id: z.number().int(), method: z.string(), input: z.unknown() }),
  z.object({ abort: z.number().int() }),
  /** Starts events; `after` resumes behind the last number seen. */
  z.object({ subscribe: z.object({ after: z.number().int().optional() }) }),
]);
export type ClientFrame = z.infer<typeof ClientFrame>;

const ErrorFrame = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  retry: z.boolean(),
  details: z.record(z.string(), z.unknown()).optional(),
});
export const ServerFrame = z.union([
  z.object({ id: z.number().int(), ok: z.literal(true), value: z.unknown() }),
  z.object({ id: z.number().int(), error: ErrorFrame }),
  z.object({ event: z.number().int(), data: Event }),
  /** Answers `subscribe`: the newest number, and whether events after `after` were dropped from the ring. */
  z.object({ subscribed: z.number().int(), gap: z.boolean() }),
]);
export type ServerFrame = z.infer<typeof ServerFrame>;
