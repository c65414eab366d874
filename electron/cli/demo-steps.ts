import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isDeepStrictEqual } from 'node:util';
import type { Diff } from '../../shared/api.ts';
import { parseId } from '../../shared/bson/ejson.ts';
import { toBase64 } from '../../shared/bson/value.ts';
import { ForkyardError } from '../../shared/errors.ts';
import type { Client } from '../../shared/rpc/connect.ts';
import { moveText, valueText } from './text.ts';

/** One step of the demo: what was done, and what was then seen. Each is checked before the next begins. */
export interface Step {
  readonly did: string;
  readonly saw: readonly string[];
}

const script = fileURLToPath(new URL('demo-script.js', import.meta.url));
const run = promisify(execFile);
const products = 'shop.products';
const hourMs = 3_600_000;

/**
 * Plays the demo on an empty workspace, yielding each step once it is checked. Throws as soon as something is not as it
 * must be.
 */
export async function* playDemo(engine: Client, signal: AbortSignal): AsyncGenerator<Step> {
  const drive = (action: string, uri: string): Promise<unknown> => driver(action, uri, signal);
  const mainPrices = async (): Promise<string> => {
    const { uri } = await engine.call('branches.uri', { branch: 'main' });
    return pricesText(await drive('prices', uri));
  };

  const imported = await engine.call('transfer.import', { source: 'sample:three', into: 'main' }, { signal });
  same('imported', imported.collections, [{ ns: products, documents: 3 }]);
  same('problems', imported.problems, []);
  yield {
    did: 'Imported three products into main',
    saw: [await seen('main holds', mainPrices, 'p1 49, p2 89, p3 19')],
  };

  const { branch, uri, timings } = await engine.call(
    'branches.fork',
    { name: 'price-update', ttlMs: hourMs },
    { signal },
  );
  same('state', branch.state, 'live');
  const livesMs = Date.parse(branch.expiresAt ?? '') - Date.parse(branch.forkedAt ?? '');
  same('time to live in minutes', Math.round(livesMs / 60_000), 60);
  yield {
    did: `Forked main as price-update for one hour, in ${Math.round(timings.capture_ready_ms)} ms`,
    saw: [`a server of its own, ${branch.disk === 'shared' ? 'disk shared with main' : 'a full copy of main'}`],
  };

  same('what the script did', await drive('reprice', uri), { modifiedCount: 3, deletedCount: 1 });
  yield {
    did: 'Gave a script the connection string: 10 % off every price, and p3 deleted',
    saw: ['3 documents updated, 1 deleted'],
  };

  const { changes } = await engine.call('changes.page', { branch: 'price-update', settle: true }, { signal });
  const feed = changes.map(({ op, id }) => `${op} ${id === undefined ? '' : valueText(id)}`);
  same('the feed', [...feed].sort(), ['delete "p3"', 'update "p1"', 'update "p2"', 'update "p3"']);
  yield { did: 'Watched the feed', saw: feed };

  const net = await engine.call('diff.get', { branch: 'price-update' }, { signal });
  same('complete', net.complete, true);
  same('summary', net.summary, [{ ns: products, added: 0, modified: 2, removed: 1, conflicts: 0 }]);
  same('the diff', diffLines(net), [
    'p1 price 49 → 44.0 (Int32 → Double)',
    'p2 price 89 → 80.0 (Int32 → Double)',
    'p3 removed, its price was 19',
  ]);
  yield { did: 'Reviewed the net effect: three documents, no conflict', saw: diffLines(net) };
  yield { did: 'Looked at main', saw: [await seen('main still holds', mainPrices, 'p1 49, p2 89, p3 19')] };

  const only = [{ ns: products, id: toBase64(parseId('"p1"')) }];
  const adopted = await engine.call('plan.adopt', { branch: 'price-update', only });
  same('adopted', adopted.applied, 1);
  yield { did: 'Adopted p1 alone', saw: [await seen('main holds', mainPrices, 'p1 44, p2 89, p3 19')] };

  const mainUri = (await engine.call('branches.uri', { branch: 'main' })).uri;
  same('what the script did', await drive('raise-p2', mainUri), { modifiedCount: 1 });
  const conflicting = await engine.call('diff.get', { branch: 'price-update', conflictsOnly: true }, { signal });
  const conflicts = conflictLines(conflicting);
  same('the conflicts', conflicts, ['p2 price: base 89, main 85, price-update 80.0']);
  yield { did: 'Set p2 to 85 in main: now both have changed it', saw: conflicts };

  const { branch: gone } = await engine.call('branches.discard', { branch: 'price-update' });
  same('discarded', gone.name, 'price-update');
  same('whether its connection string still connects', await drive('connects', uri), false);
  yield {
    did: 'Discarded price-update',
    saw: ['its connection string refuses connections', await seen('main holds', mainPrices, 'p1 44, p2 85, p3 19')],
  };
}

async function driver(action: string, uri: string, signal: AbortSignal): Promise<unknown> {
  // Nothing but the string, and what a process needs to start.
  const env = { MONGODB_URI: uri, PATH: process.env['PATH'], SystemRoot: process.env['SystemRoot'] };
  const { stdout } = await run(process.execPath, [script, action], { env, signal, timeout: 60_000 });
  return JSON.parse(stdout);
}

function pricesText(prices: unknown): string {
  return Object.entries(prices as Record<string, number>)
    .map(([id, price]) => `${id} ${price}`)
    .join(', ');
}

async function seen(what: string, look: () => Promise<string>, wanted: string): Promise<string> {
  same(what, await look(), wanted);
  return `${what} ${wanted}`;
}

/** The driver's ids have no quotes here: they are names to the reader. */
const idText = (id: string): string => valueText(id).replaceAll('"', '');

function diffLines({ documents }: Diff): string[] {
  return documents
    .map(({ id, kind, fields }) => {
      const [field] = fields;
      if (kind === 'removed')
        return `${idText(id)} removed, its price was ${/price: ([\d.]+)/.exec(valueText(field?.base ?? ''))?.[1]}`;
      return `${idText(id)} ${field?.path.join('.')} ${moveText(field?.base, field?.branch)}`;
    })
    .sort();
}

function conflictLines({ documents }: Diff): string[] {
  return documents
    .filter(({ conflict }) => conflict)
    .flatMap(({ id, fields }) =>
      fields
        .filter((field) => field.class === 'divergent')
        .map(({ path, base = '', parent = '', branch = '' }) => {
          const sides = `base ${valueText(base)}, main ${valueText(parent)}, price-update ${valueText(branch)}`;
          return `${idText(id)} ${path.join('.')}: ${sides}`;
        }),
    );
}

function same(what: string, found: unknown, wanted: unknown): void {
  if (isDeepStrictEqual(found, wanted)) return;
  throw new ForkyardError(
    'internal',
    `The demo went wrong: ${what} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}.`,
  );
}
