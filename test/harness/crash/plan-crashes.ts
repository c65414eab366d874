import { isDeepStrictEqual } from 'node:util';
import { Int32, type Document, type MongoClient } from 'mongodb';
import type { CrashYard } from './crash-yard.ts';
import { type Crash, type Victim } from './crash-yard.ts';
import { until } from '../until.ts';
import { fingerprint } from './fingerprint.ts';
import type { Stop } from './stops.ts';

/** What is written in transactions of their own, three of them: 40 MB of images. */
const bigDocuments = 5;
const bigBytes = 4 * 1024 * 1024;

/** A branch with changes of every kind a plan has steps for, or with documents for three transactions. */
export type Story = 'steps' | 'pieces';

interface PlanRow extends Document {
  readonly _id: string;
  readonly state: string;
}

type Fingerprint = Record<string, unknown>;

/**
 * Plans that are applied while somebody is killed. Each crash begins where the one before ended: the plan leads from one of
 * two known states of main to the other, or back.
 */
export class PlanCrashes {
  readonly yard: CrashYard;
  /** The sandbox's id. */
  readonly sandbox: string;
  private readonly story: Story;
  private readonly before: Fingerprint;
  private after: Fingerprint | undefined;
  /** The adoption that main holds now. */
  private adopted: string | undefined;

  private constructor(yard: CrashYard, story: Story, sandbox: string, before: Fingerprint) {
    this.yard = yard;
    this.story = story;
    this.sandbox = sandbox;
    this.before = before;
  }

  static async open(yard: CrashYard, story: Story): Promise<PlanCrashes> {
    const main = await yard.inside('main');
    await (story === 'steps' ? prepareSteps(main) : preparePieces(main));
    const { branch } = await yard.engine.call('branches.fork', { name: story, ttlMs: null });
    const sandbox = await yard.engine.outside(story);
    await (story === 'steps' ? changeSteps(sandbox) : changePieces(sandbox));
    return new PlanCrashes(yard, story, branch.id, await fingerprint(main));
  }

  /** Applies the plan once without a crash and takes it back: the two states are known then. */
  async rehearse(): Promise<void> {
    const { entry } = await this.yard.engine.call('plan.adopt', { branch: this.story });
    this.after = await this.mains();
    await this.yard.engine.call('log.undo', { entry: entry! });
    this.expectState('before', await this.mains());
  }

  /** Whether main holds the adoption. */
  get isAdopted(): boolean {
    return this.adopted !== undefined;
  }

  /**
   * Applies what leads to the other state, with a crash; looks at everything that must hold then; goes on until main is in the
   * other state.
   * @param again where the engine, which is the victim then, is killed once more while it settles what the crash left
   * @returns whether the stop was reached, and at which command; and whether it was killed again
   * @throws Error saying what did not hold
   */
  async turn(
    stopOf: Stop | ((plan: string) => Stop),
    victim: Victim,
    again?: Stop,
  ): Promise<Pick<Crash<unknown>, 'reached' | 'command'> & { readonly reachedAgain: boolean }> {
    const { engine } = this.yard;
    let isBegun: boolean | undefined;
    let reachedAgain = false;
    const known = new Set((await this.log()).map(({ entry }) => entry));
    const wanted = this.isAdopted ? 'before' : 'after';
    const kind = this.isAdopted ? 'undo' : 'adopt';
    const { plan, items } = this.adopted
      ? await engine.call('log.undoPlan', { entry: this.adopted })
      : await engine.call('plan.create', { branch: this.story });
    const stop = typeof stopOf === 'function' ? stopOf(plan) : stopOf;
    const apply = () => engine.call('plan.apply', { plan });
    const { reached, command, answer } = await this.yard.crash(apply, stop, victim, async () => {
      isBegun = (await this.plan(plan)).state === 'applying';
      if (again) reachedAgain = await this.yard.killAtStart(again);
    });

    // A busy machine may bring a server up too late for the call to know: then the log says it.
    const isOpen = answer !== undefined && 'error' in answer && /is not known/.test(answer.error.message);
    if (isOpen) await until('it is settled', async () => (await this.plan(plan)).state !== 'applying');
    const row = await this.plan(plan);
    const state = this.stateOf(await this.mains());
    const said = (await this.log()).filter(({ entry }) => !known.has(entry));
    const context = JSON.stringify({ command, answer: answerText(answer), plan: row.state, said, state });
    const isWhole = state === wanted;
    const must = (holds: boolean, what: string) => {
      if (!holds) throw new Error(`${what}: ${context}`);
    };
    must(state === 'before' || state === 'after', 'main is in between');
    must(row.state === (isWhole ? 'applied' : 'ready'), 'the plan does not say what main holds');
    if (isOpen) must(said.length === 1, 'neither the answer nor the log says it');
    else if (answer) must('value' in answer === isWhole, 'the answer is not what main holds');
    if (!isOpen && answer && 'error' in answer)
      must(/nothing of it was applied/.test(answer.error.message), 'the answer does not say it');
    if (isWhole)
      must(said.length === 1 && said[0]!.kind === kind && said[0]!.items === items, 'the log does not say it once');
    else
      must(
        (isBegun === undefined ? said.length <= 1 : said.length === (isBegun ? 1 : 0)) &&
          said.every(({ text }) => /was cut off and nothing of it was applied/.test(text)),
        'the log does not say it',
      );

    const entry = isWhole ? said[0]!.entry : (await engine.call('plan.apply', { plan })).entry!;
    this.expectState(wanted, await this.mains());
    const { summary, schema } = await engine.call('diff.get', { branch: this.story, summary: true });
    const differs = summary.length + schema.length > 0;
    must(differs === (wanted === 'before'), 'the branch’s base is not where main is');
    this.adopted = this.isAdopted ? undefined : entry;
    return { reached, command, reachedAgain };
  }

  private async mains(): Promise<Fingerprint> {
    return fingerprint(await this.yard.inside('main'));
  }

  private stateOf(found: Fingerprint): 'before' | 'after' | string {
    if (isDeepStrictEqual(found, this.before)) return 'before';
    if (isDeepStrictEqual(found, this.after)) return 'after';
    return differences(found, this.before, this.after ?? {});
  }

  private expectState(wanted: string, found: Fingerprint): void {
    const state = this.stateOf(found);
    if (state !== wanted) throw new Error(`main is not as ${wanted} the adoption: ${state}`);
  }

  private log() {
    return this.yard.engine.call('log.list', {});
  }

  private async plan(id: string): Promise<PlanRow> {
    const home = await this.yard.inside('home');
    return (await home.db('forkyard').collection<PlanRow>('plans').findOne({ _id: id }))!;
  }
}

function answerText(answer: Crash<unknown>['answer']): string {
  if (!answer) return 'none';
  return 'error' in answer ? answer.error.message : JSON.stringify(answer.value);
}

function differences(found: Fingerprint, before: Fingerprint, after: Fingerprint): string {
  const names = new Set([...Object.keys(found), ...Object.keys(before), ...Object.keys(after)]);
  const rows = [...names].flatMap((ns) => {
    const like = (other: Fingerprint) => isDeepStrictEqual(found[ns], other[ns]);
    const what = like(before) ? 'as before' : like(after) ? 'as after' : `otherwise: ${JSON.stringify(found[ns])}`;
    return isDeepStrictEqual(before[ns], after[ns]) && like(before) ? [] : [`${ns} ${what}`];
  });
  return rows.join('; ');
}

const rows = (count: number, more: Document = {}) =>
  Array.from({ length: count }, (_, _id) => ({ _id: _id as never, n: new Int32(0), ...more }));

async function prepareSteps(main: MongoClient): Promise<void> {
  const db = main.db('crash');
  await db.collection('gone').insertMany(rows(300, { text: 'x'.repeat(200) }));
  await db.collection('gone').createIndex({ n: 1 });
  await db.collection('old').insertMany(rows(10));
  await db.createCollection('strict', { validator: { n: { $gte: 0 } } });
  await db.collection('items').insertMany(rows(200, { text: 'x'.repeat(200) }));
  await db.collection('items').createIndex({ n: 1 });
  await db.collection('left').insertMany(rows(10));
}

async function changeSteps(sandbox: MongoClient): Promise<void> {
  const db = sandbox.db('crash');
  await db.collection('gone').drop();
  await db.renameCollection('old', 'renamed');
  await db.createCollection('made');
  await db.collection('made').insertMany(rows(20));
  await db.command({ collMod: 'strict', validator: { n: { $gte: 1 } } });
  await db.collection('items').dropIndex('n_1');
  await db.collection('items').createIndex({ text: 1, n: 1 });
  await db.command({ collMod: 'items', validator: { n: { $gte: 0 } } });
  await db.createCollection('seen', { viewOn: 'items', pipeline: [{ $match: { n: 1 } }] });
  await db.collection('items').updateMany({ _id: { $lt: 100 as never } }, { $inc: { n: new Int32(1) } });
  await db.collection('items').deleteMany({ _id: { $gte: 150 as never } });
}

async function preparePieces(main: MongoClient): Promise<void> {
  const documents = main.db('pieces').collection('big');
  for (const row of rows(bigDocuments, { text: 'x'.repeat(bigBytes) })) await documents.insertOne(row);
}

async function changePieces(sandbox: MongoClient): Promise<void> {
  const db = sandbox.db('pieces');
  await db.collection('big').updateMany({}, { $inc: { n: new Int32(1) } });
  await db.collection('big').createIndex({ n: 1 });
}
