// `npm run fuzz`: builds, then runs random histories on real servers, in this process: an interrupt goes to it alone.
import { buildFirst, runBundled } from './bundled.mjs';

buildFirst();
await runBundled('fuzz', 'test/harness/fuzz/long-run.ts', ({ fuzzFor }) => fuzzFor(process.argv.slice(2)));
