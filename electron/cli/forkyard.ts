#!/usr/bin/env node
import { main } from './main.ts';

const abort = new AbortController();
let interruptedAt: number | undefined;
// The first interrupt ends the command in good order, one after that the process. A terminal and a parent may both pass on
// the same one, so what comes with it is not the next.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interruptedAt ??= performance.now();
    abort.abort();
    if (performance.now() - interruptedAt > 1000) process.exit(130);
  });
}
// Nobody reads any more, as behind `| head`: that is no failure.
process.stdout.on('error', () => process.exit(0));
process.stderr.on('error', () => {});

process.exitCode = await main(process.argv.slice(2), {
  out: process.stdout,
  err: process.stderr,
  stdin: process.stdin,
  env: process.env,
  signal: abort.signal,
});
