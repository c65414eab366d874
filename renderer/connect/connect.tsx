import { Tabs } from 'radix-ui';
import { useEffect, useState } from 'react';
import type { BranchRow, Output } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { snippet } from '../../shared/snippets.ts';
import type { SnippetKind } from '../../shared/snippets.ts';
import { Code } from '../shell/code.tsx';
import { CopyButton } from '../shell/controls.tsx';
import { ErrorNote } from '../shell/dialog.tsx';
import { Actor } from '../shell/marks.tsx';
import { Pick } from '../shell/menu.tsx';
import { hasEnded } from '../store/app.ts';
import { call, isConnectionLoss } from '../store/engine.ts';
import { Actors } from './actors.tsx';
import { ConnectionTest } from './connection-test.tsx';
import { hidePassword, withoutPassword } from './uri.ts';
import { UriLine } from './uri-line.tsx';
import './connect.css';

interface HandOut {
  readonly kind: SnippetKind | 'uri';
  readonly title: string;
  /** Where it goes. */
  readonly where: string;
  readonly note: string;
}

const groups: readonly { readonly title: string; readonly handOuts: readonly HandOut[] }[] = [
  {
    title: 'Connection',
    handOuts: [
      {
        kind: 'uri',
        title: 'URI',
        where: 'One line for anything that speaks MongoDB',
        note: 'Works with every driver. It stays the same through sleep, waking and coming back.',
      },
      { kind: 'env', title: '.env', where: 'Append to .env', note: 'Most frameworks read MONGODB_URI.' },
      {
        kind: 'mongosh',
        title: 'mongosh',
        where: 'Run in a terminal',
        note: 'Other users of this machine can see the arguments of a program while it runs.',
      },
    ],
  },
  {
    title: 'Code',
    handOuts: [
      { kind: 'node', title: 'Node.js', where: 'The mongodb driver', note: 'Any version of the driver from 4 on.' },
      { kind: 'python', title: 'Python', where: 'PyMongo', note: 'PyMongo 4 or later.' },
      {
        kind: 'docker',
        title: 'Docker',
        where: 'From a container on this machine',
        note: 'The server listens on this machine only, so the container shares its network.',
      },
    ],
  },
  {
    title: 'Agents and editors',
    handOuts: [
      {
        kind: 'claude',
        title: 'Claude Code',
        where: 'Save as .mcp.json in your project',
        note: 'The password goes through the environment, never on a command line.',
      },
      {
        kind: 'cursor',
        title: 'Cursor',
        where: 'Save as .cursor/mcp.json',
        note: 'The password goes through the environment, never on a command line.',
      },
      {
        kind: 'vscode',
        title: 'VS Code',
        where: 'Save as .vscode/mcp.json',
        note: 'The password goes through the environment, never on a command line.',
      },
    ],
  },
];

type Answer = Output<'branches.uri'>;

/** How to hand a branch to a program. */
export function Connect({ branch }: { readonly branch: BranchRow }) {
  const [actor, setActor] = useState<string>();
  const [answer, setAnswer] = useState<Answer>();
  const [error, setError] = useState<ErrorBody>();
  /** Grows when a credential was changed: its connection string is asked for again. */
  const [asked, setAsked] = useState(0);
  const ended = hasEnded(branch);
  const known = branch.actors.join('\n');
  useEffect(() => {
    if (ended) return;
    const stop = new AbortController();
    call(
      'branches.uri',
      { branch: branch.name, ...(actor === undefined ? {} : { actor }) },
      { signal: stop.signal },
    ).then(
      (next) => {
        setAnswer(next);
        setError(undefined);
      },
      (failure: unknown) => {
        if (isConnectionLoss(failure)) return;
        // An actor that was taken away: the first one is shown again.
        if (actor !== undefined && !known.includes(actor)) setActor(undefined);
        else setError(errorBody(failure));
      },
    );
    return () => {
      stop.abort();
    };
  }, [branch.name, branch.state, actor, known, asked, ended]);

  if (ended) {
    return (
      <section className="blank" aria-label="Connect">
        <h2>{branch.name} has ended</h2>
        <p className="soft">Its server is stopped. Bring it back and the same connection string works again.</p>
      </section>
    );
  }
  if (error !== undefined) {
    return (
      <div className="body">
        <ErrorNote error={error} />
      </div>
    );
  }
  if (answer === undefined) return <div className="body" aria-busy="true" />;
  return (
    <div className="body connect">
      <div className="top">
        <div className="connect-who">
          <h2>Connection string for</h2>
          <ActorPick branch={branch} actor={answer.actor} onChange={setActor} />
          <span className="push" />
          <ConnectionTest key={`${branch.state} ${answer.uri}`} branch={branch} actor={answer.actor} />
        </div>
        <UriLine uri={answer.uri} keys="mod+shift+c" />
        {branch.parent === undefined ? (
          <p className="note c-mod connect-main">
            This is main itself: what is written through it is not in a sandbox.
          </p>
        ) : null}
      </div>
      <Snippets branch={branch} answer={answer} />
      <Actors branch={branch} onChanged={() => setAsked((times) => times + 1)} />
    </div>
  );
}

function ActorPick({
  branch,
  actor,
  onChange,
}: {
  readonly branch: BranchRow;
  readonly actor: string;
  readonly onChange: (actor: string) => void;
}) {
  const label = (name: string) => (
    <span className="pick-label">
      <Actor name={name} small />
      {name}
    </span>
  );
  const names = [...new Set([actor, ...branch.actors])];
  if (names.length < 2) return label(actor);
  return (
    <Pick
      label="Actor"
      value={actor}
      onChange={onChange}
      items={names.map((name) => ({ value: name, text: name, label: label(name) }))}
    />
  );
}

function Snippets({ branch, answer }: { readonly branch: BranchRow; readonly answer: Answer }) {
  return (
    <Tabs.Root className="snippets" orientation="vertical" defaultValue="claude">
      <Tabs.List className="snips" aria-label="Hand out as">
        {groups.map((group) => (
          <div key={group.title} role="presentation">
            <h3 role="presentation">{group.title}</h3>
            {group.handOuts.map(({ kind, title }) => (
              <Tabs.Trigger key={kind} value={kind} className="snip-tab">
                {title}
              </Tabs.Trigger>
            ))}
          </div>
        ))}
      </Tabs.List>
      {groups.flatMap((group) =>
        group.handOuts.map((handOut) => (
          <Tabs.Content key={handOut.kind} value={handOut.kind} className="snip" tabIndex={-1}>
            <SnippetBody branch={branch} answer={answer} handOut={handOut} />
          </Tabs.Content>
        )),
      )}
    </Tabs.Root>
  );
}

function SnippetBody({
  branch,
  answer,
  handOut,
}: {
  readonly branch: BranchRow;
  readonly answer: Answer;
  readonly handOut: HandOut;
}) {
  const { kind, title, where, note } = handOut;
  const textFor = (uri: string) => (kind === 'uri' ? uri : snippet(kind, { uri, branch: branch.name }));
  const text = textFor(answer.uri);
  return (
    <>
      <div className="snip-head">
        <b>{title}</b>
        <span className="soft">{where}</span>
        <span className="push" />
        <CopyButton look="bare" label={`${title} without password`} text={() => textFor(withoutPassword(answer.uri))}>
          Copy without password
        </CopyButton>
        <CopyButton label={title} text={() => text}>
          Copy
        </CopyButton>
      </div>
      <Code text={hidePassword(text, answer.uri)} label={title} />
      <p className="note">
        {note} {branch.parent === undefined ? '' : `${answer.actor} reaches ${branch.name} only.`}
      </p>
    </>
  );
}
