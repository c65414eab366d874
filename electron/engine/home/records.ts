import type { Timestamp } from 'mongodb';
import type { AccessLevel, BranchState } from '../../../shared/api.ts';
import type { BsonValue } from '../../../shared/bson/value.ts';
import type { Account } from '../mongod/accounts.ts';

/** What the engine's own writes are called in a history. */
export const engineActor = 'forkyard';

/** Who removes what a TTL index lets expire. */
export const ttlActor = 'TTL';

/** A branch in the catalog. */
export interface BranchRecord {
  readonly _id: string;
  readonly name: string;
  /** The parent's id; main has none. */
  readonly parent?: string;
  readonly state: BranchState;
  readonly access: AccessLevel;
  readonly accounts: readonly Account[];
  readonly port?: number;
  readonly forkPoint?: { readonly clusterTime: Timestamp; readonly seq?: number };
  readonly forkedAt: Date;
  readonly expiresAt?: Date;
  readonly disk?: 'shared' | 'copied';
  readonly ttlIndexes: boolean;
  /** This is no branch but a pin: what it is of (by name), and its content's hash; its server never runs. */
  readonly pin?: {
    readonly of: string;
    readonly hash: string;
    readonly collections: readonly {
      readonly ns: string;
      readonly documents: number;
      readonly bytes: number;
      readonly hash: string;
    }[];
    readonly hashMs: number;
  };
  /** It began without the parent's data. */
  readonly empty?: true;
  /** Set while its server may have other users than `accounts`: it gets those at its next start, if not before. */
  readonly accountsDue?: true;
  /** It is being put back to a moment: until that is done it is nothing that anybody asked for. */
  readonly restoring?: true;
  /** True while the name is taken by this branch. */
  readonly active: boolean;
  /** When an expired or discarded branch is removed for good. */
  readonly goneAt?: Date;
  readonly note?: string;
}

/** One captured change as home keeps it. Images are whole documents as bytes. */
export interface ChangeRecord {
  readonly seq: number;
  readonly clusterTime: Timestamp;
  readonly wall: Date;
  readonly op: string;
  readonly ns?: string;
  /** The collection's UUID, 16 bytes. */
  readonly uuid?: Uint8Array;
  /** The document's `_id`. */
  readonly key?: BsonValue;
  readonly before?: Uint8Array;
  readonly after?: Uint8Array;
  readonly transaction?: string;
  readonly actor?: string;
  readonly actors?: readonly string[];
  /** An image was folded from update descriptions instead of read. */
  readonly folded?: boolean;
  readonly detail?: Readonly<Record<string, unknown>>;
  /** What a schema event says of itself, as bytes; kept apart from the change and not read with it. */
  readonly schema?: Uint8Array;
}

/** A document changed since the fork: pointers to its first and its last change. */
export interface TouchedRecord {
  /** {@link touchedId} */
  readonly id: Uint8Array;
  readonly uuid: Uint8Array;
  readonly key: BsonValue;
  readonly first: number;
  readonly last: number;
  /**
   * Where this is set, the base is not the first change's before-image: the document as it was when both sides last
   * agreed (an adoption), or as an exact comparison found it.
   */
  readonly base?: BaseOverride;
  /** Sequences of the imports that brought it. */
  readonly imports?: readonly number[];
}

export interface BaseOverride {
  /** The document's bytes; undefined = it does not exist in the base. */
  readonly document: Uint8Array | undefined;
}

/** How far a branch's history goes; written in the same transaction as what it covers. */
export interface CaptureState {
  readonly seq: number;
  readonly token: Uint8Array | undefined;
  readonly clusterTime: Timestamp;
}

export interface GapRecord {
  readonly _id: string;
  readonly branch: string;
  /**
   * `log`: the change log was lost; `images`: an image could not be had; `folded`: images await verification;
   * `admin`: what is never captured; `paused`: what waits to be recorded until the disk has room.
   */
  readonly kind: 'log' | 'images' | 'folded' | 'admin' | 'paused';
  readonly ns?: string;
  readonly from?: Date;
  readonly to?: Date;
  readonly reason: string;
  readonly settled: boolean;
}

export interface LogRecord {
  readonly _id: string;
  readonly time: Date;
  readonly kind: string;
  readonly branch: string;
  /** The branch's id; its name may be another's by now. */
  readonly branchId: string;
  readonly actor?: string;
  readonly items?: number;
  readonly undoneBy?: string;
  readonly text: string;
  /** The plan that was applied. */
  readonly plan?: string;
  /** A name and its URI went from one branch to another, by id: the undo lets them go back. */
  readonly swap?: { readonly now: string; readonly before: string };
  /** Until when the files of a discarded branch are kept. */
  readonly until?: Date;
}
