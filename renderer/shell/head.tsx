import type { BranchRow } from '../../shared/api.ts';
import { useNodeLook } from '../branches/activity.ts';
import { BranchNode } from '../branches/rails.tsx';
import { hasEnded } from '../store/app.ts';
import { commands, runCommand } from './commands.ts';
import { Button, IconButton } from './controls.tsx';
import { bytes, plural } from './numbers.ts';
import { clock, useNow } from './time.ts';

/** The title row: what the chosen branch is, and what can be done with it as a whole. */
export function BranchHead({ branch, empty }: { readonly branch: BranchRow | undefined; readonly empty: boolean }) {
  if (branch === undefined) return <header className="head" />;
  return <Head branch={branch} empty={empty} />;
}

function Head({ branch, empty }: { readonly branch: BranchRow; readonly empty: boolean }) {
  const look = useNodeLook(branch, useNow(5_000));
  const isMain = branch.parent === undefined;
  return (
    <header className="head">
      <BranchNode look={look} main={isMain} />
      <h1 className="cut">{branch.name}</h1>
      <span className="sub cut">{empty ? 'empty' : origin(branch)}</span>
      <span className="push" />
      {isMain && !empty ? (
        <Button icon="fork" keys={commands.fork.keys[0]} onClick={() => runCommand(commands.fork, branch)}>
          Fork main
        </Button>
      ) : null}
      {isMain ? null : hasEnded(branch) ? (
        <Button icon="undo" onClick={() => runCommand(commands.bringBack, branch)}>
          Bring back
        </Button>
      ) : (
        <>
          <Button look="bare" icon="fork" onClick={() => runCommand(commands.fork, branch)}>
            Fork
          </Button>
          {branch.state === 'live' ? (
            <Button look="bare" icon="refresh" onClick={() => runCommand(commands.reset, branch)}>
              Reset
            </Button>
          ) : null}
          <Button look="bare" icon="trash" onClick={() => runCommand(commands.discard, branch)}>
            Discard
          </Button>
          <span className="rule-v" />
          <Button icon="copy" keys="mod+shift+c" onClick={() => runCommand(commands.copyUri, branch)}>
            Copy URI
          </Button>
        </>
      )}
      <IconButton
        label="All commands"
        icon="search"
        keys="mod+k"
        onClick={() => runCommand(commands.palette, branch)}
      />
    </header>
  );
}

function origin(branch: BranchRow): string {
  if (branch.parent !== undefined) {
    return branch.forkedAt === undefined
      ? `forked from ${branch.parent}`
      : `forked from ${branch.parent} at ${clock(branch.forkedAt)}`;
  }
  return mainSize(branch, true);
}

/** `3 databases, 1.2 GB`, with the number of documents where there is room for it. */
export function mainSize(branch: BranchRow, withDocuments: boolean): string {
  if (branch.databases === 0) return '';
  const parts = [
    branch.databases === undefined ? '' : plural(branch.databases, 'database'),
    branch.documents === undefined || !withDocuments ? '' : plural(branch.documents, 'document'),
    branch.sizeBytes === undefined ? '' : bytes(branch.sizeBytes),
  ];
  return parts.filter((part) => part !== '').join(', ');
}
