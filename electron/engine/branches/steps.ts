const slowMs = 10_000;

/** Where a long job stands: the log is told of each step that takes long, once, so that one which never ends has a name. */
export class Steps {
  private readonly job: string;
  private readonly log: (line: string) => void;
  private timer: NodeJS.Timeout | undefined;

  /** @param job as in "forking price-update from main" */
  constructor(job: string, log: (line: string) => void) {
    this.job = job;
    this.log = log;
  }

  begin(step: string): void {
    this.end();
    this.timer = setTimeout(() => this.log(`${this.job}: ${step} takes more than ${slowMs / 1_000} s`), slowMs);
    this.timer.unref();
  }

  end(): void {
    clearTimeout(this.timer);
  }
}
