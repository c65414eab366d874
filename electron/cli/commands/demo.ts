import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorBody, ForkyardError } from '../../../shared/errors.ts';
import { playDemo } from '../demo-steps.ts';
import type { Step } from '../demo-steps.ts';
import type { Call, Command } from '../command.ts';
import { startEngine } from '../engine.ts';

export const demo: Command = {
  name: 'demo',
  operands: [],
  flags: {},
  summary: 'Fork, change, review, adopt and discard real data, told step by step, in a workspace of its own',
  async run(call) {
    const data = await realpath(await mkdtemp(join(tmpdir(), 'forkyard-demo-')));
    try {
      return await demoOn(data, call);
    } finally {
      await rm(data, { recursive: true, force: true });
    }
  },
};

/** In a workspace of its own: yours is not touched. */
async function demoOn(data: string, call: Call): Promise<number> {
  const { print, signal } = call;
  const engine = await startEngine(data, { ...call, withParent: true });
  const steps: Step[] = [];
  try {
    for await (const step of playDemo(engine, signal)) {
      steps.push(step);
      if (!print.json)
        print.result(
          () => undefined,
          () => stepText(step, steps.length),
        );
      if (signal.aborted) throw new ForkyardError('aborted', 'The demo was interrupted.');
    }
  } catch (error) {
    // The log goes with the demo's folder.
    if (errorBody(error).code === 'internal') for (const line of await bugs(data)) print.notice(line);
    throw error;
  } finally {
    await engine.call('engine.stop', {}).catch(() => {});
    await engine.closed;
  }
  print.result(
    () => ({ steps }),
    () => 'In the end main holds p1 44, p2 85, p3 19: what you adopted, what you did yourself, and nothing else.',
  );
  return 0;
}

function stepText({ did, saw }: Step, number: number): string {
  return [`✓ ${number}. ${did}`, ...saw.map((line) => `     ${line}`)].join('\n');
}

/** What the engine's log tells of bugs, each with its stack. */
async function bugs(data: string): Promise<string[]> {
  const log = await readFile(join(data, 'engine.log'), 'utf8').catch(() => '');
  return log.split(/\n(?! {2})/).filter((entry) => entry.includes(' bug: '));
}
