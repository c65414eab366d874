import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { api, type Event, type Input, type Method, type Output } from '../../shared/api.ts';
import { ForkyardError } from '../../shared/errors.ts';
import { startEngine } from '../../electron/engine/service/service.ts';
import type { Engine } from '../../electron/engine/service/contract.ts';

/**
 * An engine inside the test's process, on a data folder of its own, with real servers. Inputs and outputs pass the
 * API's schemas as they would on a transport.
 */
export class TestYard {
  readonly data: string;
  readonly log: string[];
  private engine: Engine;
  private readonly clients = new Map<string, MongoClient>();

  private constructor(data: string, engine: Engine, log: string[]) {
    this.data = data;
    this.log = log;
    this.engine = engine;
  }

  static async open(): Promise<TestYard> {
    const data = await realpath(await mkdtemp(join(tmpdir(), 'fy-')));
    const log: string[] = [];
    return new TestYard(data, await startEngine({ data, log: (line) => log.push(line) }), log);
  }

  async call<M extends Method>(
    method: M,
    input: Input<M>,
    { signal = new AbortController().signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<Output<M>> {
    const parsed = api[method].input.parse(input);
    const value = await this.engine.call(method, parsed as never, { signal });
    return api[method].output.parse(value) as Output<M>;
  }

  onEvent(listener: (event: Event) => void): () => void {
    return this.engine.onEvent(listener);
  }

  /** The error a call ends in; fails where it succeeds. */
  async refusal<M extends Method>(method: M, input: Input<M>): Promise<ForkyardError> {
    const outcome = await this.call(method, input).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (outcome instanceof ForkyardError) return outcome;
    throw outcome ?? new Error(`${method} succeeded`);
  }

  async fork(name: string, options: Partial<Input<'branches.fork'>> = {}): Promise<Output<'branches.fork'>> {
    return this.call('branches.fork', { name, ...options });
  }

  /** A client with an actor's own credentials, as a user's program has it. Closed with the yard. */
  async client(
    branch: string,
    actor?: string,
    options: { retryWrites?: boolean; w?: number } = {},
  ): Promise<MongoClient> {
    const key = JSON.stringify([branch, actor, options]);
    const known = this.clients.get(key);
    if (known) return known;
    const { uri } = await this.call('branches.uri', { branch, ...(actor === undefined ? {} : { actor }) });
    const client = await new MongoClient(uri, options).connect();
    this.clients.set(key, client);
    return client;
  }

  /** Stops the engine with all its servers and starts it again on the same folder, after `meanwhile`. */
  async restart(meanwhile?: () => Promise<void>): Promise<void> {
    await this.closeClients();
    await this.engine.stop();
    await meanwhile?.();
    this.engine = await startEngine({ data: this.data, log: (line) => this.log.push(line) });
  }

  async close(): Promise<void> {
    await this.closeClients();
    await this.engine.stop();
    // It goes well the second time, and somebody will want to know of the first.
    for (const line of this.log) if (line.includes('It is started once more')) console.warn(line);
    await rm(this.data, { recursive: true, force: true });
  }

  private async closeClients(): Promise<void> {
    await Promise.all([...this.clients.values()].map((client) => client.close()));
    this.clients.clear();
  }
}
