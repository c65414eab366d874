import type { Input, Output } from '../../../shared/api.ts';
import { formatDuration, parseTtl } from '../../../shared/duration.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import type { Call, Command } from '../command.ts';
import { expiryText } from '../text.ts';

const accessLevels = ['schema', 'readWrite', 'read'] as const;

export const fork: Command = {
  name: 'fork',
  operands: ['NAME'],
  flags: {
    from: { value: 'BRANCH', text: 'the branch or pin to fork (main)' },
    ttl: { value: '1h', text: 'how long it lives: 30s 45m 1h 7d, or keep (as in the app’s settings, else 1h)' },
    access: { value: 'LEVEL', text: 'what its user may do: schema, readWrite or read (schema)' },
    actor: { value: 'NAME', text: 'whose name its changes carry' },
    empty: { text: 'no data, only a server' },
    'ttl-indexes': { text: 'let its TTL indexes expire documents' },
    'end-transactions': { text: 'end open transactions of the parent where they stand in the way' },
  },
  summary: 'Fork a branch: a server of its own with all of its data',
  async run(call) {
    const input = forkInput(call);
    const engine = await call.engine();
    const answer = await engine.call('branches.fork', input, { signal: call.signal });
    call.print.result(
      () => answer,
      () => forkText(answer),
    );
    return 0;
  },
};

function forkInput(call: Call): Input<'branches.fork'> {
  const [name = ''] = call.operands;
  const [from, ttl, actor] = [call.text('from'), call.text('ttl'), call.text('actor')];
  const access = accessOf(call.text('access'));
  return {
    name,
    ...(from === undefined ? {} : { from }),
    ...(ttl === undefined ? {} : { ttlMs: parseTtl(ttl) }),
    ...(access === undefined ? {} : { access }),
    ...(actor === undefined ? {} : { actor }),
    ...(call.on('empty') ? { empty: true } : {}),
    ...(call.on('ttl-indexes') ? { ttlIndexes: true } : {}),
    ...(call.on('end-transactions') ? { endTransactions: true } : {}),
  };
}

function accessOf(text: string | undefined): (typeof accessLevels)[number] | undefined {
  const level = accessLevels.find((each) => each === text);
  if (text === undefined || level !== undefined) return level;
  throw new ForkyardError('usage', `"${text}" is no access level.`, {
    hint: `Choose one of ${accessLevels.join(', ')}.`,
  });
}

function forkText({ branch, uri, endedTransactions = [], timings }: Output<'branches.fork'>): string {
  const disk = branch.disk === undefined ? '' : branch.disk === 'shared' ? ', disk shared' : ', full copy';
  const from = branch.parent === undefined ? '' : ` from ${branch.parent}`;
  const expiry = branch.expiresAt === undefined ? 'kept' : `expires ${expiryText(branch.expiresAt)}`;
  return [
    `${branch.name} forked${from} in ${Math.round(timings.capture_ready_ms)} ms${disk}, ${expiry}`,
    ...endedTransactions.map(
      ({ client, ageMs }) => `ended a transaction of ${client}, open for ${formatDuration(ageMs)}`,
    ),
    uri,
  ].join('\n');
}
