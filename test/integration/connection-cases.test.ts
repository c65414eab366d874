import { MessageChannel } from 'node:worker_threads';
import { BSON, MongoClient } from 'mongodb';
import type { MongoMemoryReplSet } from 'mongodb-memory-server-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect, type Client } from '../../shared/rpc/connect.ts';
import { EventRing } from '../../shared/rpc/event-ring.ts';
import { messagePortTransport } from '../../shared/rpc/message-port.ts';
import { serve } from '../../shared/rpc/serve.ts';
import { parseEjson, toEjson } from '../../shared/bson/ejson.ts';
import { documentBytes, fromBase64, toBase64, Type } from '../../shared/bson/value.ts';
import { buildDocument, elements, field, rawElement } from '../../shared/bson/walk.ts';
import { foreignDeployment } from '../fixtures/foreign-deployment.ts';
import { everyType } from '../harness/every-type.ts';
import { TestYard } from '../harness/in-process.ts';
import { contents, documentOf, insertExactly } from '../harness/round.ts';

const password = 'p@ss:w/rd%?#[]$';
const user = 'us@er:/%';

let yard: TestYard;
let foreign: MongoMemoryReplSet;
let port: number;
beforeAll(async () => {
  [yard, foreign] = await Promise.all([TestYard.open(), foreignDeployment({ root: { user, password } })]);
  port = foreign.servers[0]!.instanceInfo!.port;
  const client = await new MongoClient(escaped('127.0.0.1')).connect();
  await client
    .db('theirs')
    .collection('things')
    .insertOne({ _id: 'here' as never });
  await client.close();
}, 120_000);
afterAll(async () => {
  await yard.close();
  await foreign.stop();
});

const escaped = (host: string, secret = encodeURIComponent(password)) =>
  `mongodb://${encodeURIComponent(user)}:${secret}@${host}:${port}/?authSource=admin&directConnection=true`;

it('DR-01: a password of nothing but special characters works when it is escaped once, as the form sends it', async () => {
  const found = await yard.call('transfer.import', { source: escaped('127.0.0.1'), into: 'main' });
  expect(found).toEqual({ collections: [{ ns: 'theirs.things', documents: 1 }], problems: [] });
  const { uri } = await yard.fork('special', { ttlMs: null, actor: `agent:${user}` });
  expect(await (await yard.client('special')).db('x').collection('x').countDocuments()).toBe(0);
  // Our own connection strings need no escaping whatever the actor is called.
  expect(uri).toMatch(/^mongodb:\/\/[\w.-]+:[\w-]+@127\.0\.0\.1:\d+\/\?authSource=admin&directConnection=true$/);
});

it.each([
  ['pasted as it is', `mongodb://${user}:${password}@127.0.0.1`],
  ['escaped in part', `mongodb://user:${password.replace('@', '%40')}@127.0.0.1`],
  ['with a lone percent sign', 'mongodb://user:100%@127.0.0.1'],
])('DR-01: a password %s gets a hint how to write it, and no part of it is shown', async (_how, start) => {
  const refused = await yard.refusal('transfer.import', { source: `${start}:${port}/?authSource=admin`, into: 'main' });
  expect(refused.code).toBe('source_unreadable');
  expect(refused.hint).toContain('%40');
  for (const secret of [password, 'w/rd', 'p%40ss', '100%@']) {
    expect(`${refused.message} ${JSON.stringify(refused.details)}`).not.toContain(secret);
  }
  expect(yard.log.join('\n')).not.toContain('w/rd');
});

it('DR-01: one escaped twice, or wrong, is refused as what it is: a wrong password, which is not shown', async () => {
  for (const secret of [encodeURIComponent(encodeURIComponent(password)), 'wrong%21secret']) {
    const refused = await yard.refusal('transfer.import', { source: escaped('127.0.0.1', secret), into: 'main' });
    expect(refused).toMatchObject({ code: 'source_unreachable' });
    expect(refused.message).toContain('refused the user name or the password');
    expect(`${refused.message} ${refused.hint}`).not.toMatch(/wrong|p%2540|p@ss/);
  }
});

it('DR-02: every connection string that is handed out names 127.0.0.1, never localhost', async () => {
  const { uri } = await yard.fork('numbers', { ttlMs: null });
  const { uri: again } = await yard.call('branches.uri', { branch: 'numbers' });
  const { uri: main } = await yard.call('branches.uri', { branch: 'main' });
  for (const each of [uri, again, main]) expect(new URL(each).hostname).toBe('127.0.0.1');
});

it('DR-02: localhost is found also where only IPv4 listens, and forms of IPv6 are told apart', async () => {
  await yard.fork('empty', { ttlMs: null, empty: true });
  const found = await yard.call('transfer.import', { source: escaped('localhost'), into: 'empty' });
  expect(found).toEqual({ collections: [{ ns: 'theirs.things', documents: 1 }], problems: [] });
  const refused = await yard.refusal('transfer.import', { source: escaped('[::1]'), into: 'main' });
  expect(refused).toMatchObject({ code: 'source_unreachable' });
  expect(refused.message).toContain('::1');
  const zone = await yard.refusal('transfer.import', { source: escaped('[fe80::1%25en0]'), into: 'main' });
  expect(zone.message).toContain('fe80::1');
  expect(zone.hint).toContain('address');
});

/** The renderer's side of a real MessagePort: whatever crosses it is structured-cloned. */
function overMessagePort(): { renderer: Client; close: () => void } {
  const { port1, port2 } = new MessageChannel();
  serve(messagePortTransport(port1 as never), {
    engine: { call: (method, input) => yard.call(method, input as never) as never },
    events: new EventRing(),
  });
  return { renderer: connect(messagePortTransport(port2 as never)), close: () => port2.close() };
}

it('EL-01: a document with every type goes to the window and back, one field edited, and all others keep their bytes', async () => {
  const bytes = BSON.serialize({ _id: 'all', ...everyType, edited: 'base' });
  // What the driver has no class for.
  const document = buildDocument([...elements(bytes), rawElement('undef', new Uint8Array([Type.Undefined]))]);
  const main = await yard.client('main');
  await insertExactly(main, 'ipc.types', [document]);
  await yard.fork('window', { ttlMs: null });
  const sandbox = await yard.client('window');
  const set = (edited: string) => ({ $set: { edited } });
  await sandbox
    .db('ipc')
    .collection('types')
    .updateOne({ _id: 'all' as never }, set('sandbox'));
  await main
    .db('ipc')
    .collection('types')
    .updateOne({ _id: 'all' as never }, set('main'));

  const { renderer, close } = overMessagePort();
  const diff = await renderer.call('diff.get', { branch: 'window' });
  const change = documentOf(diff, 'all');
  expect(change.fields.map(({ path }) => path)).toEqual([['edited']]);
  const whole = await renderer.call('diff.document', { branch: 'window', ns: 'ipc.types', id: change.id });
  const shown = fromBase64(whole.base!);
  expect(Buffer.compare(documentBytes(shown), document)).toBe(0);
  // Through its text and back, as an editor has it.
  const edited = parseEjson(toEjson(shown).replace('"base"', '"by hand"'));
  // The document as a whole decides the field in it, and is nowhere put inside itself.
  const target = { ns: 'ipc.types', id: change.id };
  const asWhole = await renderer.call('plan.create', {
    branch: 'window',
    take: [{ target, take: { value: toBase64(edited) } }],
  });
  expect(asWhole).toMatchObject({ items: 1, conflicts: 0 });
  const [item] = (await renderer.call('plan.items', { plan: asWhole.plan })).items;
  expect(item?.result).toBe(toBase64(edited));
  const value = toBase64(field(documentBytes(edited), 'edited')!);
  const { plan } = await renderer.call('plan.create', {
    branch: 'window',
    take: [{ target: { ...target, path: ['edited'] }, take: { value } }],
  });
  expect((await renderer.call('plan.apply', { plan })).applied).toBe(1);
  close();
  const wanted = buildDocument(
    elements(document).map((each) => (each.name === 'edited' ? rawElement('edited', parseEjson('"by hand"')) : each)),
  );
  expect(Buffer.compare(documentBytes(edited), wanted)).toBe(0);
  await insertExactly(main, 'ipc.wanted', [wanted]);
  expect(await contents(main, 'ipc.types')).toEqual(await contents(main, 'ipc.wanted'));
});
