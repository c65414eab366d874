import type { Pin } from '../../../shared/api.ts';
import type { Command } from '../command.ts';
import { plural, sizeText, table } from '../text.ts';

export const pin: Command = {
  name: 'pin',
  operands: ['BRANCH', 'NAME'],
  flags: {},
  summary: 'Freeze a branch under a name, with a hash of its content, to fork from as often as you like',
  async run(call) {
    const [branch = '', name = ''] = call.operands;
    const engine = await call.engine();
    const answer = await engine.call('pins.create', { branch, name }, { signal: call.signal });
    call.print.result(
      () => answer,
      () =>
        `${branch} is pinned as ${name}: ${plural(documents(answer), 'document')}, ${sizeText(bytes(answer))}, read in ${answer.hashMs} ms.\nSHA-256 ${answer.hash}`,
    );
    return 0;
  },
};

export const pins: Command = {
  name: 'pins',
  operands: [],
  flags: {},
  summary: 'List the pins and their hashes',
  async run(call) {
    const engine = await call.engine();
    const answer = await engine.call('pins.list', {});
    call.print.result(
      () => answer,
      () => (answer.length === 0 ? 'There are no pins.' : pinTable(answer)),
    );
    return 0;
  },
};

function pinTable(all: readonly Pin[]): string {
  return table(
    ['PIN', 'OF', 'SINCE', 'DOCUMENTS', 'SIZE', 'SHA-256'],
    all.map((each) => [each.name, each.branch, each.createdAt, documents(each), sizeText(bytes(each)), each.hash]),
  );
}

const documents = ({ collections }: Pin) => collections.reduce((sum, each) => sum + each.documents, 0);
const bytes = ({ collections }: Pin) => collections.reduce((sum, each) => sum + each.bytes, 0);

export const unpin: Command = {
  name: 'unpin',
  operands: ['NAME'],
  flags: {},
  summary: 'Remove a pin; what was forked from it stays',
  async run(call) {
    const [name = ''] = call.operands;
    const engine = await call.engine();
    const answer = await engine.call('pins.remove', { pin: name });
    call.print.result(
      () => answer,
      () => `The pin ${name} is removed.`,
    );
    return 0;
  },
};

export const hash: Command = {
  name: 'hash',
  operands: ['BRANCH'],
  flags: {},
  summary: 'The hash of everything a branch holds, as a pin has it; reads all of it',
  async run(call) {
    const [branch = ''] = call.operands;
    const engine = await call.engine();
    const answer = await engine.call('branches.hash', { branch }, { signal: call.signal });
    call.print.result(
      () => answer,
      () => answer.hash,
    );
    return 0;
  },
};
