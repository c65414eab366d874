import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { MongoClient, MongoServerError } from 'mongodb';
import { expect, it } from 'vitest';
import { ForkyardError } from '../../../shared/errors.ts';
import { isUnreachable } from './unreachable.ts';

/** The error of a write to a socket after `end` was done to it by its other side. */
async function writeAfter(end: (other: Socket) => void): Promise<unknown> {
  const server = createServer((other) => end(other)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const failed = once(socket, 'error').then(([error]) => error as unknown);
  // Its own end follows the other's by itself, a moment later.
  const write = () => {
    socket.end();
    socket.write('a command');
  };
  socket.on('end', write).resume();
  const error = await failed;
  server.close();
  return error;
}

it('a command that was still to be written when its server ended is one of a server that went away', async () => {
  expect(isUnreachable(await writeAfter((other) => other.end()))).toBe(true);
  expect(isUnreachable(await writeAfter((other) => other.resetAndDestroy()))).toBe(true);
});

it('a commit whose client was closed under it is one too', async () => {
  const client = new MongoClient('mongodb://127.0.0.1:1');
  const session = client.startSession();
  const { transaction } = session as unknown as { transaction: { transition(to: string): void } };
  // As the driver does behind the commit of a transaction that the end of its session has aborted.
  expect(() => transaction.transition('TRANSACTION_COMMITTED')).toThrow(
    expect.toSatisfy((error: unknown) => isUnreachable(error)),
  );
  await session.endSession();
  await client.close();
});

it('a page of what the server before a restart had begun to tell is one too', () => {
  expect(isUnreachable(new MongoServerError({ message: 'cursor id 1 not found', code: 43 }))).toBe(true);
});

it('what a server refuses, and what is wrong here, is not', () => {
  expect(isUnreachable(new MongoServerError({ message: 'no', code: 11000 }))).toBe(false);
  expect(isUnreachable(new ForkyardError('plan_stale', 'It moved.'))).toBe(false);
  expect(isUnreachable(Object.assign(new Error('no space'), { code: 'ENOSPC' }))).toBe(false);
});
