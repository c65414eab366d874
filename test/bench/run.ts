import { Cleanup } from './cleanup.ts';
import { Figure, type FigureSpec } from './figure.ts';

export interface Asked {
  /** The checkout, whose `dist/` is measured. */
  readonly root: string;
  /** Where data folders are made. */
  readonly folder: string;
  readonly runs: number;
  /** Numbers of documents, ascending. */
  readonly sizes: readonly number[];
  /** Names, or parts of them between dots; none = everything. */
  readonly only: readonly string[];
  /** Where profiles of the engine go; undefined = none are made. */
  readonly profiles: string | undefined;
}

/** One run of the bench: what was asked for, and what has to be undone. */
export class BenchRun {
  readonly asked: Asked;
  readonly cleanup = new Cleanup();
  private readonly started = performance.now();

  constructor(asked: Asked) {
    this.asked = asked;
  }

  figure(spec: FigureSpec): Figure {
    const { only } = this.asked;
    return new Figure(spec, only.length === 0 || only.some((part) => `.${spec.name}.`.includes(`.${part}.`)));
  }

  get largest(): number {
    return this.asked.sizes.at(-1)!;
  }

  /** Progress, for people. */
  say(text: string): void {
    const seconds = (performance.now() - this.started) / 1000;
    process.stderr.write(`${seconds.toFixed(1).padStart(7)} s  ${text}\n`);
  }

  /** Does something as often as figures are to have runs. */
  async repeat(what: string, run: (index: number) => Promise<string>): Promise<void> {
    for (let index = 0; index < this.asked.runs; index += 1) {
      this.say(`${what} ${index + 1}/${this.asked.runs}: ${await run(index)}`);
    }
  }
}

/** Figures that are measured on the same data. */
export interface Scene {
  readonly title: string;
  readonly figures: readonly Figure[];
  run(): Promise<void>;
}

/** For progress lines. */
export function milliseconds(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}
