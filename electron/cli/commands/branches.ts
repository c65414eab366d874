import type { BranchRow, Output } from '../../../shared/api.ts';
import { parseTtl } from '../../../shared/duration.ts';
import { ForkyardError } from '../../../shared/errors.ts';
import { snippet, snippetKinds } from '../../../shared/snippets.ts';
import type { Command } from '../command.ts';
import { branchRowJson } from '../shapes.ts';
import { expiryText, sizeText, table } from '../text.ts';

export const branches: Command = {
  name: 'branches',
  operands: [],
  flags: { all: { text: 'also those in the trash' } },
  summary: 'List the branches',
  async run(call) {
    const engine = await call.engine();
    const rows = await engine.call('branches.list', call.on('all') ? { all: true } : {}, { signal: call.signal });
    call.print.result(
      () => rows.map(branchRowJson),
      () => branchTable(rows),
    );
    return 0;
  },
};

function branchTable(rows: readonly BranchRow[]): string {
  return table(
    ['BRANCH', 'STATE', 'FROM', 'AHEAD', 'BEHIND', 'EXPIRES', 'DOCUMENTS', 'SIZE'],
    rows.map((row) => [
      row.name,
      row.state,
      row.parent,
      row.ahead,
      row.behind,
      row.parent === undefined ? undefined : endText(row),
      row.documents,
      row.sizeBytes === undefined ? undefined : sizeText(row.sizeBytes),
    ]),
  );
}

/** When a sandbox ends; of one that has ended, when it is gone for good. */
function endText({ expiresAt, goneAt }: BranchRow): string {
  return goneAt === undefined ? expiryText(expiresAt) : `gone ${expiryText(goneAt)}`;
}

export const uri: Command = {
  name: 'uri',
  operands: ['BRANCH'],
  flags: {
    as: { value: 'FORM', text: snippetKinds.join(', ') },
    actor: { value: 'NAME', text: 'a credential of its own, so that its changes carry this name' },
  },
  summary: 'Print the connection string of a branch',
  async run(call) {
    const [branch = ''] = call.operands;
    const [as, wanted] = [call.text('as'), call.text('actor')];
    const kind = snippetKinds.find((each) => each === as);
    if (as !== undefined && kind === undefined) {
      throw new ForkyardError('usage', `"${as}" is no form of a connection string.`, {
        hint: `Choose one of ${snippetKinds.join(', ')}.`,
      });
    }
    const engine = await call.engine();
    const answer = await engine.call('branches.uri', { branch, ...(wanted === undefined ? {} : { actor: wanted }) });
    const text = kind === undefined ? undefined : snippet(kind, { uri: answer.uri, branch });
    call.print.result(
      () => ({ uri: answer.uri, actor: answer.actor, snippet: text }),
      () => text ?? answer.uri,
    );
    return 0;
  },
};

export const discard: Command = {
  name: 'discard',
  operands: ['BRANCH'],
  flags: { now: { text: 'remove its files at once, with no way back' } },
  summary: 'End a sandbox: its server stops and its connection string refuses',
  async run(call) {
    const [branch = ''] = call.operands;
    const engine = await call.engine();
    const answer = await engine.call('branches.discard', { branch, ...(call.on('now') ? { now: true } : {}) });
    call.print.result(
      () => answer,
      () =>
        answer.trashedUntil === undefined
          ? `${answer.branch.name} is discarded and its files are removed.`
          : `${answer.branch.name} is discarded. Its files go ${expiryText(answer.trashedUntil)}; until then \`forkyard wake ${answer.branch.name}\` brings it back.`,
    );
    return 0;
  },
};

/** A command that does one thing to a branch and answers with it. */
function onBranch(name: 'keep' | 'wake' | 'sleep', summary: string, text: (branch: string) => string): Command {
  return {
    name,
    operands: ['BRANCH'],
    flags: {},
    summary,
    async run(call) {
      const [branch = ''] = call.operands;
      const engine = await call.engine();
      const answer: Output<'branches.keep'> = await engine.call(`branches.${name}`, { branch });
      call.print.result(
        () => answer,
        () => text(answer.branch.name),
      );
      return 0;
    },
  };
}

export const keep = onBranch('keep', 'Let a sandbox live until it is discarded', (name) => `${name} is kept.`);
export const wake = onBranch(
  'wake',
  'Bring a sleeping, expired or discarded sandbox back, under the same URI',
  (name) => `${name} is live.`,
);
export const sleep = onBranch(
  'sleep',
  'Stop the server of a sandbox; its data, URI and deadline stay',
  (name) => `${name} is asleep. \`forkyard wake ${name}\` starts it again under the same URI.`,
);

export const reset: Command = {
  name: 'reset',
  operands: ['BRANCH'],
  flags: {},
  summary: 'Give a sandbox the present state of the branch it came from, under the same URI',
  async run(call) {
    const [branch = ''] = call.operands;
    const engine = await call.engine();
    const answer = await engine.call('branches.reset', { branch });
    call.print.result(
      () => answer,
      () =>
        [
          `${branch} is reset to what ${answer.branch.parent ?? 'its parent'} is now; its URI is the same.`,
          `What it was is kept for a day as ${answer.backup}; \`forkyard undo ${answer.entry}\` brings it back.`,
        ].join('\n'),
    );
    return 0;
  },
};

export const extend: Command = {
  name: 'extend',
  operands: ['BRANCH'],
  flags: { ttl: { value: '2h', text: 'how much longer it lives: 30s 45m 1h 7d; has to be given' } },
  summary: 'Give a sandbox more time',
  async run(call) {
    const [branch = ''] = call.operands;
    const text = call.text('ttl');
    if (text === undefined)
      throw new ForkyardError('usage', '`forkyard extend` needs --ttl.', { hint: 'As in --ttl 2h.' });
    const ttlMs = parseTtl(text);
    if (ttlMs === null) {
      throw new ForkyardError('usage', '`forkyard extend` needs a time.', {
        hint: `To let it live for good: \`forkyard keep ${branch}\`.`,
      });
    }
    const engine = await call.engine();
    const answer = await engine.call('branches.extend', { branch, ttlMs });
    call.print.result(
      () => answer,
      () =>
        answer.branch.expiresAt === undefined
          ? `${answer.branch.name} is kept: it has no deadline, and none was set.`
          : `${answer.branch.name} expires ${expiryText(answer.branch.expiresAt)}.`,
    );
    return 0;
  },
};
