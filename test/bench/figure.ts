/** What a figure is, and how its runs become a result. */

export interface FigureSpec {
  readonly name: string;
  readonly unit: 'ms' | 'MB' | 's' | 'MB/s' | '1/s';
  readonly target: number;
  /** The target is the least it should be, not the most. */
  readonly atLeast?: true;
  /** What is held against the target: the median, or for a promise about every time, the worst run. */
  readonly judge?: 'median' | 'worst';
}

export interface FigureResult extends FigureSpec {
  /** One value a run, in order. */
  readonly runs: readonly number[];
  readonly median?: number;
  readonly worst?: number;
  readonly ok?: boolean;
  /** Medians of what a run was made of, as far as it is known. */
  readonly parts?: Readonly<Record<string, number>>;
  /** Why there are no runs. */
  readonly skipped?: string;
  readonly failed?: string;
}

export class Figure {
  readonly spec: FigureSpec;
  /** Whether it was asked for: what nobody asked for is not measured. */
  readonly wanted: boolean;
  private readonly values: number[] = [];
  private readonly parts = new Map<string, number[]>();
  private reason: { readonly skipped: string } | { readonly failed: string } | undefined;

  constructor(spec: FigureSpec, wanted: boolean) {
    this.spec = spec;
    this.wanted = wanted;
  }

  add(value: number, parts: Readonly<Record<string, number>> = {}): void {
    if (!this.wanted) return;
    this.values.push(value);
    for (const [name, part] of Object.entries(parts)) this.parts.set(name, [...(this.parts.get(name) ?? []), part]);
  }

  /** Cannot be measured here. */
  skip(reason: string): void {
    this.reason ??= { skipped: reason };
  }

  /** The measuring ended early: fewer than `wanted` runs are no result. */
  fail(reason: string, wanted: number): void {
    if (this.values.length < wanted) this.reason ??= { failed: reason };
  }

  get result(): FigureResult {
    const { judge = 'median', ...spec } = this.spec;
    const runs = this.values.map(rounded);
    if (this.reason || runs.length === 0) {
      return { ...spec, judge, runs, ...(this.reason ?? { skipped: 'it was not reached' }) };
    }
    const summary = {
      median: rounded(median(this.values)),
      worst: rounded(spec.atLeast ? Math.min(...this.values) : Math.max(...this.values)),
    };
    const parts = Object.fromEntries([...this.parts].map(([name, values]) => [name, rounded(median(values))]));
    return {
      ...spec,
      judge,
      runs,
      ...summary,
      ok: spec.atLeast ? summary[judge] >= spec.target : summary[judge] <= spec.target,
      ...(this.parts.size > 0 ? { parts } : {}),
    };
  }
}

/** The middle value; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? upper) + upper) / 2;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
