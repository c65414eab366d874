import { useEffect, useRef } from 'react';
import { Button } from '../shell/controls.tsx';
import { ErrorNote } from '../shell/dialog.tsx';
import { Icon } from '../shell/icons.tsx';
import { openDialog, useApp } from '../store/app.ts';
import { fileTypes } from './file-import.ts';
import { ChooseFiles } from './file-list.tsx';
import { ImportForm, ImportProgress } from './import-form.tsx';
import { useImport } from './import.ts';
import { endTour, startTour } from './tour.ts';
import './start.css';

const sampleShop = 'sample:shop';

/** main is empty: what Forkyard does, and two ways to begin. */
export function FirstStart() {
  const sample = useImport();
  const own = useImport();
  const load = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    load.current?.focus({ focusVisible: false } as FocusOptions);
  }, []);
  const busy = sample.running !== undefined;
  const starting = busy || own.running !== undefined;
  useEffect(() => {
    useApp.setState({ starting });
    return () => useApp.setState({ starting: false });
  }, [starting]);
  const open = async (withTour: boolean): Promise<void> => {
    if (withTour) startTour();
    if (!(await sample.run(sampleShop))) endTour();
  };
  return (
    <div className="body first">
      <div>
        <h2>Start with data you can afford to break</h2>
        <p className="lead">
          Forkyard forks a MongoDB database in under a second, records every write to the fork, and lets you decide what
          comes back.
        </p>
      </div>
      <Loop />
      <div className="starts">
        <section className="start" aria-labelledby="start-sample">
          <h3 id="start-sample">Start with the sample shop</h3>
          <p>
            A shop for the home office, already on this machine: 2,480 products, 18,240 orders, 8,614 customers, with
            indexes and a validator. Forkyard walks you once round the loop above in about a minute, offline.
          </p>
          <div className="import-line">
            <Button
              look="primary"
              size="medium"
              keys="enter"
              ref={load}
              disabled={starting}
              onClick={() => void open(true)}
            >
              {busy ? 'Opening the sample shop' : 'Open the sample shop'}
            </Button>
            <Button size="medium" disabled={starting} onClick={() => void open(false)}>
              Without the tour
            </Button>
          </div>
          {busy ? <ImportProgress job={sample} /> : null}
          {sample.error === undefined ? null : <ErrorNote error={sample.error} />}
          <p className="note">
            <Icon name="undo" small />
            Reset demo puts it back as it was, any time.
          </p>
        </section>
        <section className="start" aria-labelledby="start-own">
          <h3 id="start-own">Bring your own data</h3>
          <div className="drop">
            <span className="drop-title">
              <Icon name="import" />
              <b>Drop files here, or anywhere on the window</b>
            </span>
            <span className="soft small">Extended JSON: {fileTypes.join(', ')}, also gzipped</span>
            <ChooseFiles disabled={starting} onFiles={(files) => openDialog({ kind: 'import', files })} />
          </div>
          <ImportForm job={own} onDone={() => undefined} />
        </section>
      </div>
    </div>
  );
}

/** Fork, change, review, adopt, undo: the same drawing as the branch tree. */
function Loop() {
  return (
    <svg className="loop" viewBox="0 0 880 132" role="img" aria-label="Fork, change, review, adopt, undo">
      <path className="rail-main" d="M0 28H880" />
      <path className="rail-sb" d="M120 28C170 28 160 84 216 84H560C616 84 606 28 656 28" strokeWidth="2" />
      <circle className="node node-main" cx="120" cy="28" r="6" />
      <circle className="node-halo" cx="300" cy="84" r="9" />
      <circle className="node-live" cx="300" cy="84" r="6.5" />
      <circle className="node" cx="476" cy="84" r="5.5" />
      <circle className="node node-main" cx="656" cy="28" r="6" />
      <path className="rail-sb" d="M800 40C800 56 690 56 668 38" strokeDasharray="3 3" />
      <path className="rail-sb" d="M668 38l2.5 7.5M668 38l8 .5" />
      <circle className="node node-main" cx="800" cy="28" r="6" />
      <text className="d" x="0" y="14">
        main
      </text>
      <text className="b" x="120" y="14" textAnchor="middle">
        Fork
      </text>
      <text className="b" x="300" y="110" textAnchor="middle">
        Change
      </text>
      <text className="d" x="300" y="127" textAnchor="middle">
        an agent, a test, a demo
      </text>
      <text className="b" x="476" y="110" textAnchor="middle">
        Review
      </text>
      <text className="d" x="476" y="127" textAnchor="middle">
        every field, before and after
      </text>
      <text className="b" x="656" y="14" textAnchor="middle">
        Adopt
      </text>
      <text className="b" x="800" y="14" textAnchor="middle">
        Undo
      </text>
    </svg>
  );
}
