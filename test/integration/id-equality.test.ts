import type { MongoMemoryReplSet } from 'mongodb-memory-server-core';
import { BSON, type Collection, MongoClient, MongoServerError } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseEjson } from '../../shared/bson/ejson.ts';
import { keyText } from '../../shared/bson/key.ts';
import { foreignDeployment } from '../fixtures/foreign-deployment.ts';

let server: MongoMemoryReplSet;
let client: MongoClient;

beforeAll(async () => {
  server = await foreignDeployment();
  client = await MongoClient.connect(server.getUri());
}, 120_000);

afterAll(async () => {
  await client.close();
  await server.stop();
});

/** Whether the server refuses the second id because it holds it equal to the first. */
async function heldEqual(collection: Collection<{ _id: unknown }>, a: string, b: string): Promise<boolean> {
  const id = (text: string): unknown => BSON.EJSON.parse(text, { relaxed: false });
  await collection.deleteMany({});
  await collection.insertOne({ _id: id(a) } as never);
  try {
    await collection.insertOne({ _id: id(b) } as never);
    return false;
  } catch (error) {
    if (error instanceof MongoServerError && error.code === 11000) return true;
    throw error;
  }
}

const double = (text: string): string => `{"$numberDouble":"${text}"}`;
const long = (text: string): string => `{"$numberLong":"${text}"}`;
const decimal = (text: string): string => `{"$numberDecimal":"${text}"}`;

const numbers = [
  ...['0.1', '0.5', '1000000000000000.0', '9007199254740992.0', '4611686018427387904.0', '9223372036854775808.0'].map(
    double,
  ),
  ...['NaN', 'Infinity', '-0.0', '0.0009765625', '123456.789', '1e+300'].map(double),
  ...['9007199254740993', '4611686018427387904', '9223372036854775807', '0'].map(long),
  ...['0.1', '0.50', '1E15', '9007199254740993.0', '4611686018427387904.5', '9223372036854775808', '-0E-50'].map(
    decimal,
  ),
  ...['NaN', 'Infinity', '9.765625E-4', '123456.789', '1E+300', '0.1000000000000000055511151231257827'].map(decimal),
];

const others = [
  '"x"',
  '{"$symbol":"x"}',
  '{"$code":"x"}',
  'null',
  '{"$date":{"$numberLong":"5"}}',
  '{"$timestamp":{"t":0,"i":5}}',
  '{"a":{"$numberInt":"1"},"b":[{"$numberInt":"2"}]}',
  '{"a":{"$numberDouble":"1.0"},"b":[{"$numberDecimal":"2.00"}]}',
  '{"b":[{"$numberInt":"2"}],"a":{"$numberInt":"1"}}',
  '{"a":{"$symbol":"x"}}',
  '{"a":"x"}',
];

test(
  'ids have the same key exactly where the server refuses the second of them as a duplicate',
  { timeout: 120_000 },
  async () => {
    const collection = client.db('ids').collection<{ _id: unknown }>('all');
    for (const ids of [numbers, others]) {
      for (const [index, a] of ids.entries()) {
        for (const b of ids.slice(index + 1)) {
          const ours = keyText(parseEjson(a)) === keyText(parseEjson(b));
          expect(ours, `${a} and ${b}`).toBe(await heldEqual(collection, a, b));
        }
      }
    }
  },
);
