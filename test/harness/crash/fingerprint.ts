import type { Document, MongoClient } from 'mongodb';

const own = new Set(['admin', 'config', 'local']);

/** Everything a server holds but for its own: contents by the server's hash, options, identities, indexes. */
export async function fingerprint(client: MongoClient): Promise<Record<string, unknown>> {
  const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true });
  const found: Record<string, unknown> = {};
  for (const { name } of databases.filter((each) => !own.has(each.name))) {
    const db = client.db(name);
    const hashes = (await db.command({ dbHash: 1 }))['collections'] as Document;
    const collections = (await db.listCollections().toArray()) as Document[];
    for (const { name: collection, type, options, info } of collections) {
      const indexes = type === 'view' ? [] : await db.collection(String(collection)).indexes();
      found[`${name}.${String(collection)}`] = {
        type: String(type),
        hash: String(hashes[String(collection)]),
        options: told(options as Document),
        uuid: String((info as Document)['uuid']),
        indexes: indexes.map((index) => JSON.stringify(index)).sort(),
      };
    }
  }
  // What a server makes for itself comes with the first view.
  return Object.fromEntries(
    Object.entries(found)
      .filter(([ns]) => !ns.endsWith('.system.views'))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Options in one order, without the defaults that a server writes out or not, and without images, which the engine sees to. */
function told(options: Document): string {
  const defaults: Document = { validationLevel: 'strict', validationAction: 'error' };
  const told = Object.entries(options).filter(
    ([name, value]) => defaults[name] !== value && name !== 'changeStreamPreAndPostImages',
  );
  return JSON.stringify(told.sort(([a], [b]) => (a < b ? -1 : 1)));
}
