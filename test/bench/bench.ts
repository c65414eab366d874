/** `npm run bench`: measures the built engine and prints one JSON object. `--help` tells the rest. */
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { realpathSync, statfsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { collectionsScene } from './collections.ts';
import { feedScene } from './feed.ts';
import { forkScene } from './forks.ts';
import { idleScene } from './idle.ts';
import { mergeScene } from './merge.ts';
import { reviewScene } from './review.ts';
import { uiScene } from './ui.ts';
import { BenchRun, type Asked } from './run.ts';

const help = `npm run bench -- [NAME…] [--runs N] [--only NAME]… [--sizes N,N,…] [--dir DIR] [--cpu-profile DIR] [--list]

Measures the build in dist/ and prints one JSON object on stdout; progress goes to stderr.
  --runs N           runs of each figure (5)
  NAME, --only NAME  only figures of this name, or with this part of one (merge, reflink); may be repeated
  --sizes N,N,…      numbers of documents to fork (3,10000,100000,500000)
  --dir DIR          where data folders are made (${tmpdir()}); a file system that shares no blocks
  --cpu-profile DIR  profile the engine while it is measured, a file each; slows it
  --no-build         measure dist/ as it is
  --list             only list the figures

500,000 documents need 12 GB of disk.
`;
/** What a size takes in all: main, home, the copies in the trash, and the same again on XFS. */
const diskBytesOfDocument = 24_000;

/** What shells expect of a program that Ctrl-C ended. */
const interruptedCode = 130;

/** Measures; resolves to the exit code: 1 where something could not be measured, not where a target was missed. */
export async function bench(root: string, argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      runs: { type: 'string', default: '5' },
      only: { type: 'string', multiple: true, default: [] },
      sizes: { type: 'string', default: '3,10000,100000,500000' },
      dir: { type: 'string', default: tmpdir() },
      'cpu-profile': { type: 'string' },
      list: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) {
    process.stdout.write(help);
    return 0;
  }
  const asked: Asked = {
    root,
    folder: realpathSync(values.dir),
    runs: count(values.runs, '--runs'),
    sizes: [...new Set(values.sizes.split(',').map((text) => count(text, '--sizes')))].sort((a, b) => a - b),
    only: [...values.only, ...positionals],
    profiles: values['cpu-profile'],
  };
  const run = new BenchRun(asked);
  const scenes = [forkScene, collectionsScene, feedScene, reviewScene, mergeScene, idleScene, uiScene].map((scene) =>
    scene(run),
  );
  const figures = scenes.flatMap((scene) => scene.figures).filter((figure) => figure.wanted);
  if (figures.length === 0) throw new Error(`there is no figure ${asked.only.join(' or ')}; --list lists them`);
  if (values.list === true) {
    for (const { spec } of figures)
      process.stdout.write(`${spec.name}  ${spec.atLeast ? '≥' : '≤'} ${spec.target} ${spec.unit}\n`);
    return 0;
  }
  requireDisk(run);
  const interrupted = endOnSignals(run);
  const load = loadavg()[0]!;
  for (const { title, figures: own, run: measure } of scenes) {
    if (!own.some((figure) => figure.wanted)) continue;
    try {
      await measure();
    } catch (error) {
      if (interrupted()) break;
      const reason = error instanceof Error ? error.message : String(error);
      run.say(`${title} FAILED: ${error instanceof Error ? (error.stack ?? reason) : reason}`);
      for (const figure of own) figure.fail(reason, asked.runs);
    }
    await run.cleanup.undo();
  }
  await run.cleanup.end();
  if (interrupted()) return interruptedCode;
  const results = figures.map((figure) => figure.result);
  process.stdout.write(`${JSON.stringify({ machine: machine(asked, load), figures: results }, null, 2)}\n`);
  return results.some(({ failed }) => failed !== undefined) ? 1 : 0;
}

function count(text: string, flag: string): number {
  if (/^[1-9]\d{0,7}$/.test(text)) return Number(text);
  throw new Error(`${flag} takes whole numbers from 1, not "${text}"`);
}

function requireDisk({ asked, largest }: BenchRun): void {
  const { bavail, bsize } = statfsSync(asked.folder);
  const needed = largest * diskBytesOfDocument;
  if (bavail * bsize >= needed) return;
  const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
  throw new Error(
    `${largest} documents need ${gigabytes(needed)} in ${asked.folder}, and ${gigabytes(bavail * bsize)} are free; name smaller --sizes or another --dir`,
  );
}

/** The first signal undoes everything; it is told apart from what then fails. */
function endOnSignals(run: BenchRun): () => boolean {
  let ended = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (!ended) run.say('interrupted: stopping servers and removing data');
      ended = true;
      void run.cleanup.end().finally(() => process.exit(interruptedCode));
    });
  }
  return () => ended;
}

/** What the figures depend on. `load` is the load average before the first of them: above 0.5 others were at work. */
function machine({ folder, runs, sizes }: Asked, load: number) {
  const types: Readonly<Record<number, string>> = {
    0xef53: 'ext4',
    0x58465342: 'xfs',
    0x9123683e: 'btrfs',
    0x01021994: 'tmpfs',
    0x794c7630: 'overlay',
  };
  const { type } = statfsSync(folder);
  return {
    cpus: cpus().length,
    model: cpus()[0]?.model.trim(),
    memoryGB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    folder,
    fileSystem: types[type] ?? `0x${type.toString(16)}`,
    load,
    runs,
    sizes,
  };
}
