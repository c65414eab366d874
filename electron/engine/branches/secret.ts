import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineCredentials } from '../mongod/replica.ts';

/** The engine's own user, random per workspace, in a file that only its owner can read. */
export async function engineCredentials(data: string): Promise<EngineCredentials> {
  const path = join(data, 'engine.secret');
  const stored = await readFile(path, 'utf8').catch(() => undefined);
  if (stored !== undefined) return JSON.parse(stored) as EngineCredentials;
  const credentials = {
    user: `forkyard-${randomBytes(4).toString('hex')}`,
    password: randomBytes(24).toString('base64url'),
  };
  const half = `${path}.${process.pid}`;
  await writeFile(half, JSON.stringify(credentials), { mode: 0o600 });
  await rename(half, path);
  return credentials;
}
