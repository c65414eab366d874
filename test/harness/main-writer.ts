import { MongoClient, type Collection } from 'mongodb';
import { Stalls } from './own-time.ts';

interface Row {
  readonly _id: number;
  readonly value: number;
}

/** A single write may take this long before it counts as lost service, milliseconds. */
const deadlineMs = 30_000;

/**
 * An ordinary program that writes to main without pause, one write after the other, each acknowledged with `w: 1`:
 * inserts, and updates of what it inserted. It knows what main must hold, and how long it ever had to wait.
 */
export class MainWriter {
  private readonly client: MongoClient;
  private readonly pauseMs: number;
  private readonly rows: Collection<Row>;
  private readonly acknowledged = new Map<number, number>();
  private running = true;
  private ended: Promise<void> = Promise.resolve();
  private turn = 0;
  /** Since the last acknowledgement. */
  private readonly stalls = new Stalls();
  private lastAcknowledged = performance.now();
  private longest = 0;
  /** Writes that failed, with what they failed of. */
  readonly failures: string[] = [];

  private constructor(client: MongoClient, pauseMs: number) {
    this.client = client;
    this.pauseMs = pauseMs;
    this.rows = client.db('writer').collection<Row>('rows');
  }

  static async start(uri: string, pauseMs = 2): Promise<MainWriter> {
    const options = { socketTimeoutMS: deadlineMs, appName: 'writer' };
    const client = await new MongoClient(uri, { ...options, writeConcern: { w: 1 } }).connect();
    const writer = new MainWriter(client, pauseMs);
    writer.ended = writer.run();
    await writer.writes(10);
    return writer;
  }

  private async run(): Promise<void> {
    while (this.running) {
      this.turn += 1;
      await this.write(this.turn).catch((error: unknown) => this.failures.push(String(error)));
      this.longest = Math.max(this.longest, this.waitedMs());
      this.lastAcknowledged = performance.now();
      this.stalls.take();
      await new Promise((resolve) => setTimeout(resolve, this.pauseMs));
    }
  }

  private async write(turn: number): Promise<void> {
    const rows = this.acknowledged.size;
    const _id = turn % 4 === 1 || rows === 0 ? rows : turn % rows;
    if (_id < rows) await this.rows.updateOne({ _id }, { $set: { value: turn } });
    else await this.rows.insertOne({ _id, value: turn });
    this.acknowledged.set(_id, turn);
  }

  private waitedMs(): number {
    return Math.max(0, performance.now() - this.lastAcknowledged - this.pauseMs - this.stalls.ms);
  }

  /** The longest wait between two acknowledgements since the last call, milliseconds; one that goes on counts. */
  takeLongestStall(): number {
    const longest = Math.max(this.longest, this.waitedMs());
    this.longest = 0;
    return longest;
  }

  /** Resolves when so many further writes have been done. */
  async writes(more: number): Promise<void> {
    for (const target = this.turn + more; this.turn < target;) {
      await new Promise((resolve) => setTimeout(resolve, this.pauseMs));
    }
  }

  /** Acknowledged writes that main does not hold. A later write may be there already. */
  async lost(): Promise<string[]> {
    const expected = new Map(this.acknowledged);
    const stored = new Map((await this.rows.find().toArray()).map(({ _id, value }) => [_id, value]));
    return [...expected].flatMap(([id, value]) => {
      const now = stored.get(id);
      return now !== undefined && now >= value ? [] : [`${id}: ${value} acknowledged, ${String(now)} there`];
    });
  }

  async stop(): Promise<void> {
    this.running = false;
    this.stalls.stop();
    await this.ended;
    await this.client.close();
  }
}
