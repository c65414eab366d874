import { useEffect, useState } from 'react';
import type { AccessLevel, ActorRow, BranchRow } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import { copyText } from '../shell/clipboard.ts';
import { Button } from '../shell/controls.tsx';
import { Actor, Counts } from '../shell/marks.tsx';
import { Pick } from '../shell/menu.tsx';
import { count } from '../shell/numbers.ts';
import { age, useNow } from '../shell/time.ts';
import { openDialog, showToast } from '../store/app.ts';
import { call, isConnectionLoss } from '../store/engine.ts';
import { accessLevels, accessNames } from './access.ts';

const refreshMs = 3_000;

/** The credentials of a branch: what each may do, who is connected with it, what it wrote. */
export function Actors({ branch, onChanged }: { readonly branch: BranchRow; readonly onChanged: () => void }) {
  const [rows, setRows] = useState<readonly ActorRow[]>();
  const { name } = branch;
  const actors = branch.actors.join('\n');
  /** Grows when something was changed here: the rows are read again. */
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    const read = (): void => {
      call('actors.list', { branch: name }, { signal: stop.signal }).then(setRows, (error: unknown) => {
        // The next look, or the branch's own state, says what there is to say.
        if (!isConnectionLoss(error) && errorBody(error).code !== 'branch_not_live') throw error;
      });
    };
    read();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') read();
    }, refreshMs);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [name, actors, turn]);

  /** Runs a change of one actor and shows what is there then. */
  const change = async (run: () => Promise<string>): Promise<void> => {
    try {
      showToast({ tone: 'done', text: await run() });
      onChanged();
    } catch (error) {
      const { message, hint } = errorBody(error);
      showToast({ tone: 'problem', text: message, hint });
    }
    setTurn((now) => now + 1);
  };

  return (
    <section className="actors" aria-labelledby="actors-title">
      <div className="tool">
        <h2 id="actors-title">Actors</h2>
        <span className="soft small cut">
          One credential each, so every write has a name. None of them can read the record or reach another branch.
        </span>
        <span className="push" />
        <Button icon="plus" onClick={() => openDialog({ kind: 'actor', branch: branch.id })}>
          Add actor
        </Button>
      </div>
      <table className="grid actor-grid" aria-label="Actors">
        <thead>
          <tr>
            <th>Actor</th>
            <th>Access</th>
            <th>User</th>
            <th className="num">Connections</th>
            <th>Last write</th>
            <th>Writes</th>
            <th>
              <span className="sr">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {(rows ?? []).map((row) => (
            <Row key={row.actor} branch={name} row={row} alone={rows?.length === 1} change={change} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({
  branch,
  row,
  alone,
  change,
}: {
  readonly branch: string;
  readonly row: ActorRow;
  readonly alone: boolean;
  readonly change: (run: () => Promise<string>) => Promise<void>;
}) {
  const { actor, user, access, connections, lastWriteAt, writes } = row;
  const now = useNow(1_000);
  const none = writes.added + writes.modified + writes.removed === 0;
  const setAccess = (next: AccessLevel) =>
    change(async () => {
      await call('actors.access', { branch, actor, access: next });
      return `${actor} may now: ${accessNames[next].toLowerCase()}`;
    });
  const renew = () =>
    change(async () => {
      const { uri } = await call('actors.renew', { branch, actor });
      const copied = await copyText(uri);
      return `${actor} has a new password, the old one is refused${copied ? '. The new URI is on your clipboard' : ''}`;
    });
  const revoke = () =>
    change(async () => {
      await call('actors.remove', { branch, actor });
      return `${actor} cannot reach ${branch} any more`;
    });
  return (
    <tr>
      <td>
        <span className="pick-label">
          <Actor name={actor} />
          <span className="cut">{actor}</span>
        </span>
      </td>
      <td>
        <Pick
          label={`Access of ${actor}`}
          value={access}
          items={accessLevels.map((value) => ({ value, text: accessNames[value], label: accessNames[value] }))}
          onChange={(next) => void setAccess(next as AccessLevel)}
        />
      </td>
      <td className="mono cut">{user}</td>
      <td className="num">{count(connections)}</td>
      <td>{lastWriteAt === undefined ? 'never' : `${age(lastWriteAt, now)} ago`}</td>
      <td>{none ? <span className="soft">none</span> : <Counts counts={writes} />}</td>
      <td className="row-actions">
        <Button look="bare" onClick={() => void renew()}>
          New password<span className="sr"> for {actor}</span>
        </Button>
        <Button
          look="bare"
          disabled={alone}
          title={alone ? 'A branch keeps at least one actor' : undefined}
          onClick={() => void revoke()}
        >
          Revoke<span className="sr"> {actor}</span>
        </Button>
      </td>
    </tr>
  );
}
