import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** What has to be undone, last first, however the end comes. */
export class Cleanup {
  private steps: (() => Promise<void> | void)[] = [];
  private undoing: Promise<void> = Promise.resolve();
  private ended = false;

  /** Names the undoing *before* the doing. The returned function does it early. @throws after {@link end} */
  add(step: () => Promise<void> | void): () => Promise<void> {
    if (this.ended) throw new Error('the bench is ending');
    this.steps.push(step);
    return () => {
      if (!this.steps.includes(step)) return this.undoing;
      this.steps = this.steps.filter((other) => other !== step);
      return this.inTurn(step);
    };
  }

  /** Undoes everything; a step that fails is told and does not keep the others from running. */
  undo(): Promise<void> {
    return this.inTurn(async () => {
      for (let step = this.steps.pop(); step; step = this.steps.pop()) {
        try {
          await step();
        } catch (error) {
          process.stderr.write(`clean-up: ${String(error)}\n`);
        }
      }
    });
  }

  /** The same, and nothing new may be made from then on. */
  end(): Promise<void> {
    this.ended = true;
    return this.undo();
  }

  /** One after the other: an interrupt waits for what is just being undone. */
  private inTurn(work: () => Promise<void> | void): Promise<void> {
    const result = this.undoing.then(work);
    this.undoing = result.catch(() => undefined);
    return result;
  }

  /** Runs a program to its end; it is ended with the bench. @throws where it fails, with what it said */
  async command(program: string, ...args: string[]): Promise<void> {
    const ended = { child: undefined as ReturnType<typeof spawn> | undefined };
    const done = this.add(async () => {
      const { child } = ended;
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      child.kill();
      await once(child, 'close');
    });
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    ended.child = child;
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    try {
      const [code] = (await once(child, 'close')) as [number | null];
      if (code !== 0) throw new Error(`${program} ended with ${code}: ${said.trim()}`);
    } finally {
      await done();
    }
  }
}
