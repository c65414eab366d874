#!/usr/bin/env node
import { main } from './main.ts';

const abort = new AbortController();
// The first interrupt ends the command in good order; the second, the process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => abort.abort());
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
