import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import WebSocket from 'ws';

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  /** Microseconds. */
  readonly timeDeltas: readonly number[];
}

const sampleMicros = 200;
const shownFunctions = 15;

/** The processor's time of another Node process, through its inspector: exactly what is measured, nothing around it. */
export class Profiler {
  private readonly socket: WebSocket;
  private readonly folder: string;
  private readonly pending = new Map<number, (reply: { result?: unknown; error?: { message: string } }) => void>();
  private lastId = 0;

  private constructor(socket: WebSocket, folder: string) {
    this.socket = socket;
    this.folder = folder;
    socket.on('message', (text) => {
      const reply = JSON.parse(String(text)) as { id: number; result?: unknown; error?: { message: string } };
      this.pending.get(reply.id)?.(reply);
      this.pending.delete(reply.id);
    });
  }

  /** `url` is what a process under `--inspect` prints. */
  static async open(url: string, folder: string): Promise<Profiler> {
    await mkdir(folder, { recursive: true });
    const socket = new WebSocket(url);
    await once(socket, 'open');
    const profiler = new Profiler(socket, folder);
    await profiler.send('Profiler.enable');
    await profiler.send('Profiler.setSamplingInterval', { interval: sampleMicros });
    return profiler;
  }

  start(): Promise<unknown> {
    return this.send('Profiler.start');
  }

  /** Writes `NAME.cpuprofile`, which Chromium's and VS Code's tools open, and gives the functions that took most. */
  async stop(name: string): Promise<string> {
    const { profile } = (await this.send('Profiler.stop')) as { profile: Profile };
    const file = join(this.folder, `${name}.cpuprofile`);
    await writeFile(file, JSON.stringify(profile));
    return `${file}\n${summary(profile)}`;
  }

  close(): void {
    this.socket.close();
  }

  private send(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    this.lastId += 1;
    const id = this.lastId;
    return new Promise((resolve, reject) => {
      this.pending.set(id, ({ result, error }) => (error ? reject(new Error(error.message)) : resolve(result)));
      this.socket.send(JSON.stringify({ id, method, params }));
    });
  }
}

/** Time in each function itself, most first. */
function summary({ nodes, samples, timeDeltas }: Profile): string {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const place = url === '' ? '' : ` ${url.split('/').at(-1)}:${lineNumber + 1}`;
      return [id, `${functionName || '(anonymous)'}${place}`];
    }),
  );
  const times = new Map<string, number>();
  samples.forEach((id, index) => {
    const name = names.get(id) ?? '?';
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[index] ?? 0));
  });
  const all = [...times.values()].reduce((sum, time) => sum + time, 0);
  return [...times]
    .sort(([, a], [, b]) => b - a)
    .slice(0, shownFunctions)
    .map(
      ([name, time]) =>
        `${(time / 1000).toFixed(0).padStart(10)} ms ${((time / all) * 100).toFixed(1).padStart(5)} %  ${name}`,
    )
    .join('\n');
}
