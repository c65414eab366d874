/** Ready-made text that hands a sandbox's connection string to a program. */

export const snippetKinds = ['env', 'mongosh', 'node', 'python', 'docker', 'claude', 'cursor', 'vscode'] as const;
export type SnippetKind = (typeof snippetKinds)[number];

interface Connection {
  readonly uri: string;
  /** Names the server in an MCP configuration. */
  readonly branch: string;
}

/** What to paste, without a final line break. The JSON ones are whole files: `.mcp.json`, `.cursor/mcp.json`, `.vscode/mcp.json`. */
export function snippet(kind: SnippetKind, { uri, branch }: Connection): string {
  switch (kind) {
    case 'env':
      return `MONGODB_URI=${doubleQuoted(uri)}`;
    case 'mongosh':
      return `mongosh ${singleQuoted(uri)}`;
    case 'node':
      return [
        "import { MongoClient } from 'mongodb';",
        '',
        `const client = new MongoClient(${JSON.stringify(uri)});`,
        'console.log(await client.db().admin().listDatabases());',
        'await client.close();',
      ].join('\n');
    case 'python':
      return [
        'from pymongo import MongoClient',
        '',
        `client = MongoClient(${JSON.stringify(uri)})`,
        'print(client.list_database_names())',
      ].join('\n');
    case 'docker':
      // The server listens on this machine's loopback only, so a container must share the host's network.
      return `docker run --rm --network host --env MONGODB_URI=${singleQuoted(uri)} IMAGE`;
    case 'claude':
    case 'cursor':
      return json({ mcpServers: { [`forkyard-${branch}`]: mcpServer(uri) } });
    case 'vscode':
      return json({ servers: { [`forkyard-${branch}`]: { type: 'stdio', ...mcpServer(uri) } } });
  }
}

/** MongoDB's own MCP server. The string goes by the environment: arguments are readable by every user of the machine. */
function mcpServer(uri: string) {
  return { command: 'npx', args: ['-y', 'mongodb-mcp-server'], env: { MDB_MCP_CONNECTION_STRING: uri } };
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);
const singleQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const doubleQuoted = (text: string): string => `"${text.replace(/["\\$`]/g, '\\$&')}"`;
