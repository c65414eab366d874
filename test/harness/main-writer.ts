import { MongoClient, type Collection } from 'mongodb';

interface Row {
  readonly _id: number;
  readonly value: number;
}

/** A single write may take this long before it counts as lost service, milliseconds. */
const deadlineMs = 10_000;
const pauseMs = 2;
const tickMs = 5;

/**
 * An ordinary program that writes to main without pause, one write after the other, each acknowledged with `w: 1`:
 * inserts, and updates of what it inserted. It knows what main must hold, and how long it ever had to wait.
 */
export class MainWriter {
  private readonly client: MongoClient;
  private readonly rows: Collection<Row>;
  private readonly acknowledged = new Map<number, number>();
  private running = true;
  private ended: Promise<void> = Promise.resolve();
  private readonly ticker: NodeJS.Timeout;
  private turn = 0;
  /** How long this process itself did not run since the last acknowledgement: not the server's doing. */
  private lateMs = 0;
  private lastTick = performance.now();
  private lastAcknowledged = performance.now();
  private longest = 0;
  /** Writes that failed, with what they failed of. */
  readonly failures: string[] = [];

  private constructor(client: MongoClient) {
    this.client = client;
    this.rows = client.db('writer').collection<Row>('rows');
    this.ticker = setInterval(() => this.tick(), tickMs);
  }

  static async start(uri: string): Promise<MainWriter> {
    const options = { socketTimeoutMS: deadlineMs, appName: 'writer' };
    const client = await new MongoClient(uri, { ...options, writeConcern: { w: 1 } }).connect();
    const writer = new MainWriter(client);
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
      this.lateMs = 0;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  private async write(turn: number): Promise<void> {
    const rows = this.acknowledged.size;
    const _id = turn % 4 === 1 || rows === 0 ? rows : turn % rows;
    if (_id < rows) await this.rows.updateOne({ _id }, { $set: { value: turn } });
    else await this.rows.insertOne({ _id, value: turn });
    this.acknowledged.set(_id, turn);
  }

  private tick(): void {
    const now = performance.now();
    this.lateMs += Math.max(0, now - this.lastTick - 2 * tickMs);
    this.lastTick = now;
  }

  private waitedMs(): number {
    this.tick();
    return Math.max(0, performance.now() - this.lastAcknowledged - pauseMs - this.lateMs);
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
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
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
    clearInterval(this.ticker);
    await this.ended;
    await this.client.close();
  }
}
