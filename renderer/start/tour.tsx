import { useEffect, useState } from 'react';
import { errorBody } from '../../shared/errors.ts';
import { undo } from '../branches/verbs.ts';
import { Button, IconButton } from '../shell/controls.tsx';
import { branchById, chooseBranch, isEmpty, mainBranch, openDialog, showToast, useApp } from '../store/app.ts';
import { call } from '../store/engine.ts';
import { adoption, changed, endTour, steps, useTour, watchTour } from './tour.ts';
import type { Step } from './tour.ts';
import './start.css';

const suggested = 'price-update';

interface Words {
  readonly title: string;
  readonly text: string;
}

const words: Readonly<Record<Step, Words>> = {
  fork: {
    title: 'Fork a sandbox',
    text: 'A complete MongoDB of its own. Whatever happens in it, main stays as it is.',
  },
  change: {
    title: 'Let something change it',
    text: 'A script gets nothing but the connection string: new prices, a product more and one less.',
  },
  review: { title: 'See what it did', text: 'Live has every write, old and new. Review has what differs in the end.' },
  adopt: { title: 'Adopt what you want', text: 'Leave out what you do not. The plan is shown before anything runs.' },
  undo: { title: 'And back', text: 'Even an adoption can be taken back, as long as nobody changed it since.' },
  done: { title: 'That is the whole loop', text: 'Fork, change, review, adopt, undo. Reset demo puts all of it back.' },
};

/** One step of the guided tour at the foot of the branch list; it never stands in the way. */
export function Tour() {
  const { step } = useTour();
  const nothingYet = useApp((app) => app.starting || isEmpty(app));
  useEffect(watchTour, []);
  if (step === undefined || nothingYet) return null;
  const { title, text } = words[step];
  const at = steps.indexOf(step);
  return (
    <section className="tour" aria-label="Guided tour">
      <div className="tour-head">
        <span className="soft small">{step === 'done' ? 'Tour' : `Tour, ${String(at + 1)} of 5`}</span>
        <span className="push" />
        <IconButton look="bare" icon="close" label="End the tour" onClick={endTour} />
      </div>
      <div role="status">
        <h2>{title}</h2>
        <p>{text}</p>
      </div>
      <div className="tour-acts">
        <Act step={step} />
      </div>
    </section>
  );
}

function Act({ step }: { readonly step: Step }) {
  const tour = useTour();
  const branch = useApp((app) => (tour.branch === undefined ? undefined : branchById(app, tour.branch)));
  const main = useApp((app) => mainBranch(app.branches));
  const log = useApp((app) => app.log);
  const [busy, setBusy] = useState(false);
  const adopted = adoption(tour, log);

  const change = async (): Promise<void> => {
    if (branch === undefined) return;
    chooseBranch(branch.id, 'live');
    setBusy(true);
    try {
      await call('demo.change', { branch: branch.name });
      changed();
    } catch (error) {
      const { message, hint } = errorBody(error);
      showToast({ tone: 'problem', text: message, hint });
    }
    setBusy(false);
  };
  switch (step) {
    case 'fork':
      return (
        <Button
          look="primary"
          icon="fork"
          onClick={() => openDialog({ kind: 'fork', from: main?.id ?? 'main', name: suggested })}
        >
          Fork {suggested}…
        </Button>
      );
    case 'change':
      return (
        <Button look="primary" icon="play" disabled={busy} onClick={() => void change()}>
          {busy ? 'Running' : 'Run the script'}
        </Button>
      );
    case 'review':
      return (
        <Button look="primary" onClick={() => (branch === undefined ? undefined : chooseBranch(branch.id, 'review'))}>
          Review
        </Button>
      );
    case 'adopt':
      return (
        <Button
          look="primary"
          icon="adopt"
          onClick={() => {
            if (branch === undefined) return;
            chooseBranch(branch.id, 'review');
            openDialog({ kind: 'adopt', branch: branch.id });
          }}
        >
          Adopt…
        </Button>
      );
    case 'undo':
      return (
        <Button
          look="primary"
          icon="undo"
          disabled={adopted?.undoable !== true}
          onClick={() => (adopted === undefined ? undefined : void undo(adopted))}
        >
          Undo the adoption
        </Button>
      );
    case 'done':
      return (
        <>
          <Button icon="undo" onClick={() => openDialog({ kind: 'reset-demo' })}>
            Reset demo…
          </Button>
          <Button look="bare" onClick={endTour}>
            Done
          </Button>
        </>
      );
  }
}
