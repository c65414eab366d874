import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { snippet, snippetKinds } from './snippets.ts';

const uri = 'mongodb://agent:s3cret@127.0.0.1:40001/?directConnection=true&authSource=admin';

test.each(snippetKinds)('%s carries the whole connection string', (kind) => {
  expect(snippet(kind, { uri, branch: 'price-update' })).toContain(uri);
});

test('the MCP configurations are JSON files that keep the string out of the arguments', () => {
  const claude = JSON.parse(snippet('claude', { uri, branch: 'b' }));
  expect(claude).toEqual({
    mcpServers: {
      'forkyard-b': { command: 'npx', args: ['-y', 'mongodb-mcp-server'], env: { MDB_MCP_CONNECTION_STRING: uri } },
    },
  });
  expect(JSON.parse(snippet('cursor', { uri, branch: 'b' }))).toEqual(claude);
  expect(JSON.parse(snippet('vscode', { uri, branch: 'b' }))).toMatchObject({
    servers: { 'forkyard-b': { type: 'stdio', env: { MDB_MCP_CONNECTION_STRING: uri } } },
  });
});

test.skipIf(process.platform === 'win32')('a shell reads back the very string, whatever is in it', () => {
  const shell = (script: string): string => execFileSync('sh', ['-c', script], { encoding: 'utf8' });
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', "'", '"', '$', '`', '\\', ' ', '&', '#') }), (odd) => {
      expect(shell(`${snippet('env', { uri: odd, branch: 'b' })}; printf %s "$MONGODB_URI"`)).toBe(odd);
      expect(shell(`mongosh() { printf %s "$1"; }; ${snippet('mongosh', { uri: odd, branch: 'b' })}`)).toBe(odd);
    }),
    { numRuns: 30 },
  );
});
