import { useState } from 'react';
import type { BranchRow, Output } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { Button } from '../shell/controls.tsx';
import { Icon } from '../shell/icons.tsx';
import { listed, plural } from '../shell/numbers.ts';
import { call } from '../store/engine.ts';

type Outcome = { readonly seen: Output<'branches.test'> } | { readonly error: ErrorBody };

/** Connects with the shown credential when asked to, and says what was seen. */
export function ConnectionTest({ branch, actor }: { readonly branch: BranchRow; readonly actor: string }) {
  const [outcome, setOutcome] = useState<Outcome>();
  const [busy, setBusy] = useState(false);
  const test = async (): Promise<void> => {
    setBusy(true);
    try {
      setOutcome({ seen: await call('branches.test', { branch: branch.name, actor }) });
    } catch (failure) {
      setOutcome({ error: errorBody(failure) });
    }
    setBusy(false);
  };
  return (
    <>
      <span className="test-outcome" role="status">
        {outcome === undefined ? null : 'seen' in outcome ? (
          <span className="c-add cut" title={databasesText(outcome.seen.databases)}>
            <Icon name="check" />
            Connected as {outcome.seen.actor} in {Math.round(outcome.seen.ms)} ms, mongod {outcome.seen.version},{' '}
            {plural(outcome.seen.databases.length, 'database')}
          </span>
        ) : (
          <span className="c-rem cut" title={outcome.error.hint}>
            <Icon name="alert" />
            {outcome.error.message}
          </span>
        )}
      </span>
      <Button icon="plug" disabled={busy} onClick={() => void test()}>
        {outcome === undefined ? 'Test' : 'Test again'}
      </Button>
    </>
  );
}

function databasesText(names: readonly string[]): string {
  return names.length === 0 ? 'No databases yet' : listed(names.slice(0, 12));
}
