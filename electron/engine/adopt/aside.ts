import { Binary, type Document } from 'mongodb';
import { shellText } from '../../../shared/bson/ejson.ts';
import { documentBytes, documentValue, fromBase64 } from '../../../shared/bson/value.ts';
import { elements, field } from '../../../shared/bson/walk.ts';
import { readCatalog } from '../changes/catalog.ts';
import { parseDefinition } from '../changes/definition.ts';
import { touchedSince } from '../changes/parent-edits.ts';
import { settleNow, type Side } from '../changes/side.ts';
import { splitNamespace } from '../changes/touched.ts';
import type { Home } from '../home/home.ts';
import { ContentsHash, KeptDocuments, sumOf } from '../home/kept.ts';
import type { SchemaStep } from '../home/plans.ts';
import { asideName, leavingName } from '../mongod/aside.ts';
import { buildableIndex } from '../mongod/index-spec.ts';
import { driverValue, rawFind, rawWrite } from '../mongod/raw.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { hasZeroTime, unwritable, updateStatement, withoutZeroTimes } from './exact-write.ts';
import { StalePlan, type Moved } from './write.ts';

const batchSize = 1_000;

/**
 * Drops a collection, or makes one with all that it holds, by way of a name that nobody uses. Stepping aside is one rename,
 * so nobody's write can fall between what was kept and what was dropped; and what is being put together is not seen before
 * it is whole. Until the plan is through, what was dropped only stands aside, and coming back is one rename too.
 */
export class AsideCollection {
  private readonly home: Home;
  private readonly parent: Side;
  private readonly step: SchemaStep;
  private readonly plan: string;
  private readonly index: number;
  private readonly db: string;
  private readonly name: string;
  private readonly leaving: string;

  constructor(home: Home, parent: Side, plan: string, index: number, step: SchemaStep) {
    this.home = home;
    this.parent = parent;
    this.plan = plan;
    this.index = index;
    this.step = step;
    [this.db] = splitNamespace(step.ns);
    this.name = asideName(plan, index);
    this.leaving = leavingName(plan, index);
  }

  private get ns(): string {
    return `${this.db}.${this.name}`;
  }

  private get leavingNs(): string {
    return `${this.db}.${this.leaving}`;
  }

  /** Whether anything of the step stands aside. */
  async isThere(): Promise<boolean> {
    return (await this.has(this.name)) || (await this.has(this.leaving));
  }

  private async has(name: string): Promise<boolean> {
    const found = await this.parent.client.db(this.db).listCollections({ name }, { nameOnly: true }).toArray();
    return found.length > 0;
  }

  /**
   * Takes the collection away from its name, and keeps what it holds.
   * @returns what was kept
   * @throws StalePlan where it is not what the plan knows; it has its name again then
   */
  async setAside(): Promise<SchemaStep['kept']> {
    if (!(await this.has(this.name))) {
      await this.checkUnchanged();
      await this.rename(this.step.ns, this.ns);
    }
    try {
      if (!(await this.isOurs(this.ns))) throw new StalePlan([{ ns: this.step.ns }]);
      await this.checkUnchanged();
      return await this.keep();
    } catch (error) {
      await this.comeBack();
      throw error;
    }
  }

  /** Gives it its name again. @throws ForkyardError where that is another's by now */
  async comeBack(): Promise<void> {
    if (await this.has(this.name)) await this.rename(this.ns, this.step.ns);
  }

  /** By identity: another may have taken the name since it was looked at. */
  private async isOurs(ns: string): Promise<boolean> {
    return (await readCatalog(this.parent.client)).byNamespace.get(ns)?.uuid === this.step.uuid;
  }

  /** What stands aside is dropped for good. */
  async drop(): Promise<void> {
    await this.parent.client.db(this.db).collection(this.name).drop();
  }

  /** Makes the collection: identity, options, documents in their order, indexes; then it gets its name. */
  async bring(): Promise<void> {
    // It was whole, and its leaving was cut off.
    if (await this.has(this.leaving)) return this.rename(this.leavingNs, this.step.ns);
    await this.drop();
    const definition = documentBytes(fromBase64(this.step.after ?? ''));
    await this.create(definition);
    const { kept } = this.step;
    if (kept) await this.fill(kept);
    const indexes = [...parseDefinition(definition).indexes.values()].map((spec) =>
      driverValue(documentValue(buildableIndex(spec))),
    );
    if (indexes.length > 0) await this.parent.client.db(this.db).command({ createIndexes: this.name, indexes });
    await this.rename(this.ns, this.step.ns);
  }

  /**
   * Takes away what {@link bring} made, where it still is what that made; else it stays. It leaves under a name of its own: cut
   * off before it was looked at, it still is what others may have written to.
   */
  async takeAway(): Promise<void> {
    if (await this.has(this.name)) return this.drop();
    if (!(await this.has(this.leaving))) await this.rename(this.step.ns, this.leavingNs);
    if ((await this.isOurs(this.leavingNs)) && (await this.holds(this.step.kept, this.leaving)))
      await this.parent.client.db(this.db).collection(this.leaving).drop();
    else await this.rename(this.leavingNs, this.step.ns);
  }

  private async create(definition: Uint8Array): Promise<void> {
    const options = elements(definition).filter(({ name }) => name !== 'indexes');
    const make: Document = Object.fromEntries([...options.map(({ name, value }) => [name, driverValue(value)])] as [
      string,
      unknown,
    ][]);
    make['changeStreamPreAndPostImages'] = { enabled: true };
    // The one who applies an oplog says which UUID a collection has; a create of one's own gets a new one.
    if (!('clusteredIndex' in make)) {
      const collation = make['collation'] === undefined ? {} : { collation: make['collation'] };
      make['idIndex'] = { v: 2, key: { _id: 1 }, name: '_id_', ...collation };
    }
    const op = {
      op: 'c',
      ns: `${this.db}.$cmd`,
      ui: new Binary(Buffer.from(this.step.uuid ?? '', 'hex'), 4),
      o: { create: this.name, ...make },
    };
    await this.parent.client.db('admin').command({ applyOps: [op] });
  }

  private async fill(kept: NonNullable<SchemaStep['kept']>): Promise<void> {
    const db = this.parent.client.db(this.db);
    const write = async (command: Document, name: 'documents' | 'updates', items: readonly Uint8Array[]) => {
      const { problems } = await rawWrite(db, { ...command, bypassDocumentValidation: true }, { name, items });
      if (problems[0]) throw this.refused(problems[0].message);
    };
    for await (const batch of new KeptDocuments(this.home, kept.plan, kept.step).read()) {
      await write({ insert: this.name }, 'documents', batch.map(withoutZeroTimes));
      const zero = batch.filter(hasZeroTime);
      const exactly = zero.map((result) => updateStatement({ key: field(result, '_id')!, result }, true));
      await write({ update: this.name }, 'updates', exactly);
    }
    if (!(await this.holds(kept))) throw this.refused('the server did not keep every document byte for byte');
  }

  private refused(why: string): ForkyardError {
    return new ForkyardError(
      'write_refused',
      `${this.step.text} was refused by ${this.parent.record.name}: ${why}. Nothing was applied.`,
      {
        hint: `Leave ${this.step.ns} out, or change it by hand.`,
      },
    );
  }

  private contents(collection = this.name): AsyncGenerator<Uint8Array[]> {
    const query = { collection, filter: {}, hint: { $natural: 1 }, batchSize };
    return rawFind(this.parent.client.db(this.db), query);
  }

  private async keep(): Promise<SchemaStep['kept']> {
    if (this.step.kept) {
      // It is kept already: it came from there.
      if (await this.holds(this.step.kept)) return this.step.kept;
      throw new StalePlan([{ ns: this.step.ns }]);
    }
    if (this.step.unchangedSince === undefined) {
      // One that a plan made with nothing in it.
      if (await this.holds(undefined)) return undefined;
      throw new StalePlan([{ ns: this.step.ns }]);
    }
    const kept = await new KeptDocuments(this.home, this.plan, this.index).write(this.returnable());
    return { plan: this.plan, step: this.index, ...kept };
  }

  /** @throws ForkyardError `not_writable_exactly` where a document could not be brought back as it is */
  private async *returnable(): AsyncGenerator<Uint8Array[]> {
    for await (const batch of this.contents()) {
      const lost = batch.find((result) => unwritable({ expect: undefined, result }) !== undefined);
      if (lost) {
        throw new ForkyardError(
          'not_writable_exactly',
          `${shellText(field(lost, '_id')!)} of ${this.step.ns} holds both a zero timestamp and a field name twice; dropped, it could not be brought back exactly.`,
          { hint: `Leave ${this.step.ns} out, or drop it by hand.` },
        );
      }
      yield batch;
    }
  }

  /**
   * Whether it holds exactly these documents. A server that was killed does again, in several threads, what it did since its
   * last checkpoint, so that documents may stand in another order (seen on 6.0.5): only of a capped collection that tells.
   */
  private async holds(wanted: SchemaStep['kept'], collection = this.name): Promise<boolean> {
    const hash = new ContentsHash();
    for await (const batch of this.contents(collection)) {
      hash.add(batch);
      if (!wanted) return false;
    }
    if (!wanted) return true;
    const found = hash.end();
    if (found.documents !== wanted.documents) return false;
    if (found.hash === wanted.hash) return true;
    if (this.isCapped) return false;
    const kept = new KeptDocuments(this.home, wanted.plan, wanted.step).read();
    return (await sumOf(this.contents(collection))) === (await sumOf(kept));
  }

  private get isCapped(): boolean {
    const definition = this.step.after ?? this.step.before;
    return definition !== undefined && field(documentBytes(fromBase64(definition)), 'capped') !== undefined;
  }

  /** By the parent's history, which knows each write. */
  private async checkUnchanged(): Promise<void> {
    const { uuid, unchangedSince, ns } = this.step;
    if (unchangedSince === undefined || uuid === undefined) return;
    if (!(await settleNow(this.parent)) || (await this.parent.history.changes.hasGapAfter(unchangedSince)))
      throw new StalePlan([{ ns }]);
    const moved: Moved[] = [];
    for await (const rows of touchedSince(this.parent.history, Buffer.from(uuid, 'hex'), unchangedSince))
      moved.push(...rows.map(({ key }): Moved => ({ ns, id: key })));
    if (moved.length > 0) throw new StalePlan(moved);
  }

  private async rename(from: string, to: string): Promise<void> {
    await this.parent.client.db('admin').command({ renameCollection: from, to });
  }
}
