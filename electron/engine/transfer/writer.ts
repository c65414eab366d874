import { createHash } from 'node:crypto';
import { MongoServerError, ObjectId } from 'mongodb';
import { type ElementSlice, buildDocument, elements, elementsOf, rawElement } from '../../../shared/bson/walk.ts';
import { type BsonValue, Type, typeName, valueOf } from '../../../shared/bson/value.ts';
import type { ImportedCollection, ImportProblem, ImportTarget, InsertOutcome, Namespace } from './contract.ts';

/** Far under the 48 MB of a message; small enough that memory stays flat and that writing begins while reading goes on. */
const batchBytes = 16 * 1024 * 1024;
const batchDocuments = 2_500;
/** The server's limit for one document. */
const maxDocumentBytes = 16 * 1024 * 1024;
/** Problems named one by one, for each collection; the rest is counted. */
const namedProblems = 1_000;

export interface CollectionOptions {
  readonly bypassValidation: boolean;
  /** False for time-series, whose measurements need no `_id`. */
  readonly needsId: boolean;
  /** How many there will be, for progress. */
  readonly total?: number;
}

/** Takes the documents of an import, collection by collection, and keeps the account of them. */
export class ImportWriter {
  readonly #target: ImportTarget;
  readonly #hash = createHash('sha256');
  readonly #collections: { ns: string; documents: number }[] = [];
  readonly #problems: ImportProblem[] = [];
  #current: CollectionWriter | undefined;

  constructor(target: ImportTarget) {
    this.#target = target;
  }

  /** A new collection of the import; the one before must be finished. */
  collection(ns: Namespace, options: CollectionOptions): CollectionWriter {
    const entry = { ns: `${ns.db}.${ns.collection}`, documents: 0 };
    this.#collections.push(entry);
    this.#current = new CollectionWriter(this.#target, ns, options, {
      hashed: (document) => this.#hash.update(document),
      inserted: (count) => (entry.documents += count),
      problem: (problem) => this.#problems.push({ ns: entry.ns, ...problem }),
    });
    return this.#current;
  }

  problem(problem: ImportProblem): void {
    this.#problems.push(problem);
  }

  /** Waits for the write in flight, and answers what the branch has taken so far. */
  async settle(): Promise<readonly ImportedCollection[]> {
    await this.#current?.settle();
    return this.#collections.filter(({ documents }) => documents > 0);
  }

  result(): { collections: ImportedCollection[]; problems: ImportProblem[]; hash: string } {
    return { collections: this.#collections, problems: this.#problems, hash: this.#hash.digest('hex') };
  }
}

interface Account {
  readonly hashed: (document: Uint8Array) => void;
  readonly inserted: (count: number) => void;
  readonly problem: (problem: Omit<ImportProblem, 'ns'>) => void;
}

interface Pending {
  readonly document: Uint8Array;
  readonly id: BsonValue | undefined;
  readonly line: number | undefined;
  readonly hasZeroTimestamp: boolean;
}

/** Cuts a collection's documents into batches and writes each while the next is being read. */
export class CollectionWriter {
  readonly #target: ImportTarget;
  readonly #ns: Namespace;
  readonly #options: CollectionOptions;
  readonly #account: Account;
  #batch: Pending[] = [];
  #bytes = 0;
  #writing: Promise<void> = Promise.resolve();
  #given = 0;
  #inserted = 0;
  #refused = 0;

  constructor(target: ImportTarget, ns: Namespace, options: CollectionOptions, account: Account) {
    this.#target = target;
    this.#ns = ns;
    this.#options = options;
    this.#account = account;
  }

  /** Takes one document. Its bytes must not change afterwards. `line` is where a file has it. */
  async add(document: Uint8Array, line?: number): Promise<void> {
    const prepared = this.#prepare(document, line);
    if (!prepared) return;
    if (this.#batch.length === batchDocuments || this.#bytes + prepared.document.length > batchBytes)
      await this.#flush();
    this.#batch.push(prepared);
    this.#bytes += prepared.document.length;
    this.#account.hashed(prepared.document);
  }

  /** Writes what is left and answers what became of the documents. */
  async finish(): Promise<{ given: number; inserted: number; refused: number }> {
    await this.#flush();
    await this.#writing;
    const more = this.#refused - namedProblems;
    if (more > 0) this.#account.problem({ message: `${more.toLocaleString('en')} more documents were not imported` });
    return { given: this.#given, inserted: this.#inserted, refused: this.#refused };
  }

  /** Waits for the write in flight, whatever becomes of it. */
  async settle(): Promise<void> {
    await this.#writing.catch(() => undefined);
  }

  #prepare(document: Uint8Array, line: number | undefined): Pending | undefined {
    this.#given += 1;
    const parts = elements(document);
    let found = parts.find(({ name }) => name === '_id');
    const id = found?.value;
    if (id && isIllegalId(id)) {
      this.#refuse(id, line, `a document's _id cannot be of type ${typeName(id)}`);
      return undefined;
    }
    let bytes = document;
    if (!found && this.#options.needsId) {
      bytes = withId(parts);
      found = elements(bytes)[0];
    } else if (found && parts[0] !== found) {
      // The server stores _id first, whatever comes; what is counted and rewritten are the bytes it will hold.
      bytes = buildDocument([found, ...parts.filter((part) => part !== found)]);
    }
    if (bytes.length > maxDocumentBytes) {
      this.#refuse(found?.value, line, `a document of ${bytes.length} bytes is over the server's 16 MB`);
      return undefined;
    }
    const hasZeroTimestamp = this.#options.needsId && parts.some(isReplacedTimestamp);
    if (hasZeroTimestamp && hasDuplicateNames(parts)) {
      this.#refuse(
        found?.value,
        line,
        'a document with a top-level Timestamp(0, 0) and duplicate field names cannot be written exactly',
      );
      return undefined;
    }
    return { document: bytes, id: found?.value, line, hasZeroTimestamp };
  }

  async #flush(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#bytes = 0;
    await this.#writing;
    this.#target.signal.throwIfAborted();
    if (batch.length === 0) return;
    this.#writing = this.#write(batch).then(() => this.#report());
    // A failure is thrown by whoever waits next; until then it is not unhandled.
    this.#writing.catch(() => undefined);
  }

  #report(): void {
    const { total } = this.#options;
    const text = `Importing ${this.#ns.db}.${this.#ns.collection}`;
    this.#target.onProgress({
      text,
      done: this.#given - this.#batch.length,
      ...(total === undefined ? {} : { total }),
    });
  }

  async #write(batch: readonly Pending[]): Promise<void> {
    const outcome = await this.#insert(batch);
    if (outcome === undefined) return;
    this.#inserted += outcome.inserted;
    this.#account.inserted(outcome.inserted);
    const refused = new Set<number>();
    for (const { index, message } of [...outcome.duplicates, ...outcome.problems].sort((a, b) => a.index - b.index)) {
      refused.add(index);
      this.#refuse(batch[index]?.id, batch[index]?.line, message);
    }
    const changed = batch.filter(({ hasZeroTimestamp }, index) => hasZeroTimestamp && !refused.has(index));
    if (changed.length === 0) return;
    for (const { index, message } of await this.#target.rewrite(
      this.#ns,
      changed.map(({ document }) => document),
    )) {
      const { id, line } = changed[index] ?? {};
      this.#name(id, line, `imported, but its Timestamp(0, 0) became the time of the import: ${message}`);
    }
  }

  /** Undefined where the batch had to be written in halves. */
  async #insert(batch: readonly Pending[]): Promise<InsertOutcome | undefined> {
    const documents = batch.map(({ document }) => document);
    try {
      return await this.#target.insert(this.#ns, documents, { bypassValidation: this.#options.bypassValidation });
    } catch (error) {
      if (!(error instanceof MongoServerError) || !refusedMessageCodes.has(Number(error.code))) throw error;
      // One document that the server cannot even parse makes it refuse the whole message: find it by halving.
      if (batch.length === 1) {
        this.#refuse(batch[0]?.id, batch[0]?.line, error.message);
        return undefined;
      }
      const half = batch.length >> 1;
      await this.#write(batch.slice(0, half));
      await this.#write(batch.slice(half));
      return undefined;
    }
  }

  #refuse(id: BsonValue | undefined, line: number | undefined, message: string): void {
    this.#refused += 1;
    if (this.#refused <= namedProblems) this.#name(id, line, message);
  }

  #name(id: BsonValue | undefined, line: number | undefined, message: string): void {
    this.#account.problem({ ...(line === undefined ? {} : { line }), ...(id === undefined ? {} : { id }), message });
  }
}

/** BadValue, Overflow (nested too deep), InvalidBSON, BSONObjectTooLarge. */
const refusedMessageCodes: ReadonlySet<number> = new Set([2, 15, 22, 10334]);

const illegalIdTypes: ReadonlySet<number> = new Set([Type.Array, Type.Regex, Type.Undefined]);

function isIllegalId(id: BsonValue): boolean {
  return illegalIdTypes.has(id[0] ?? 0);
}

function withId(parts: readonly ElementSlice[]): Uint8Array {
  return buildDocument([rawElement('_id', valueOf(Type.ObjectId, new ObjectId().id)), ...parts]);
}

/** A top-level Timestamp(0, 0) other than `_id`: an insert puts the server's time in its place. */
function isReplacedTimestamp(element: ElementSlice): boolean {
  if (element.type !== Type.Timestamp || element.name === '_id') return false;
  return element.bytes.subarray(element.start, element.end).every((byte) => byte === 0);
}

/** At any depth. */
function hasDuplicateNames(parts: readonly ElementSlice[]): boolean {
  const open = [parts];
  for (let level = open.pop(); level; level = open.pop()) {
    const names = new Set<string>();
    for (const part of level) {
      const name = Buffer.from(part.nameBytes).toString('latin1');
      if (names.has(name)) return true;
      names.add(name);
      if (part.type === Type.Object || part.type === Type.Array) open.push(elementsOf(part));
    }
  }
  return false;
}
