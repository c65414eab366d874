import { randomBytes } from 'node:crypto';
import { keyText } from '../../../shared/bson/key.ts';
import { documentValue, type BsonValue } from '../../../shared/bson/value.ts';
import { buildDocument, field, rawElement } from '../../../shared/bson/walk.ts';
import type { Home } from '../home/home.ts';
import { buildableIndex } from '../mongod/index-spec.ts';
import { driverValue, rawFind, rawFindAll, rawWrite } from '../mongod/raw.ts';
import { candidateFilter, type UniqueIndex } from './unique-keys.ts';

/** DuplicateKey, DocumentValidationFailure. */
const refusals: ReadonlySet<number> = new Set([11000, 121]);

/** A collection of home's own, with an index or a validator on trial: the same server decides, and nobody's data is touched. */
export class Rehearsal {
  private readonly home: Home;
  private readonly name: string;

  private constructor(home: Home, name: string) {
    this.home = home;
    this.name = name;
  }

  static empty(home: Home): Promise<Rehearsal> {
    return Rehearsal.open(home, {});
  }

  static async withIndex(home: Home, { spec }: UniqueIndex): Promise<Rehearsal> {
    const rehearsal = await Rehearsal.open(home, {});
    await rehearsal.addIndex(spec);
    return rehearsal;
  }

  /** @param spec as the catalog tells it */
  async addIndex(spec: Uint8Array): Promise<void> {
    await this.home.rehearsals.command({
      createIndexes: this.name,
      indexes: [driverValue(documentValue(buildableIndex(spec)))],
    });
  }

  /** @param validation as the catalog tells it: `validator`, `validationLevel`, `validationAction` */
  static async withValidator(home: Home, validation: Uint8Array): Promise<Rehearsal> {
    const validator = driverValue(field(validation, 'validator')!);
    return Rehearsal.open(home, { validator, validationLevel: 'strict', validationAction: 'error' });
  }

  private static async open(home: Home, options: object): Promise<Rehearsal> {
    const name = randomBytes(8).toString('hex');
    await home.rehearsals.command({ create: name, ...options });
    return new Rehearsal(home, name);
  }

  async close(): Promise<void> {
    await this.home.rehearsals.collection(this.name).drop();
  }

  /** Puts documents in. @returns the places in the list of those that the index or the validator refused */
  async admit(documents: readonly Uint8Array[]): Promise<number[]> {
    const command = { insert: this.name, ordered: false };
    const { problems } = await rawWrite(this.home.rehearsals, command, { name: 'documents', items: documents });
    // Refused for another reason (parallel arrays under a compound index), a document is left to its own server.
    return problems.filter(({ code }) => refusals.has(code)).map(({ index }) => index);
  }

  async remove(key: BsonValue): Promise<void> {
    const query = documentValue(
      buildDocument([rawElement('_id', documentValue(buildDocument([rawElement('$eq', key)])))]),
    );
    const statement = buildDocument([rawElement('q', query), rawElement('limit', new Uint8Array([0x10, 1, 0, 0, 0]))]);
    await rawWrite(this.home.rehearsals, { delete: this.name }, { name: 'deletes', items: [statement] });
  }

  /** Everything that is in, a batch at a time. */
  documents(batchSize: number): AsyncGenerator<Uint8Array[]> {
    return rawFind(this.home.rehearsals, { collection: this.name, filter: {}, sort: { _id: 1 }, batchSize });
  }

  /** Which document that is in keeps this one out. */
  async holderOf(document: Uint8Array, index: UniqueIndex): Promise<Uint8Array | undefined> {
    const filter = candidateFilter([document], index);
    if (!filter) return undefined;
    const query = { collection: this.name, filter, collation: index.collation };
    const own = keyText(field(document, '_id')!);
    const found = (await rawFindAll(this.home.rehearsals, query)).filter(
      (each) => keyText(field(each, '_id')!) !== own,
    );
    if (found.length < 2) return found[0];
    // Several could be it: the one without which this one goes in.
    for (const candidate of found) {
      await this.remove(field(candidate, '_id')!);
      const alone = (await this.admit([document])).length === 0;
      if (alone) await this.remove(field(document, '_id')!);
      await this.admit([candidate]);
      if (alone) return candidate;
    }
    return found[0];
  }
}
