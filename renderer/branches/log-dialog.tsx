import { useEffect, useRef, useState } from 'react';
import { errorBody } from '../../shared/errors.ts';
import { commands, runCommand } from '../shell/commands.ts';
import { Code } from '../shell/code.tsx';
import { Button, CopyButton } from '../shell/controls.tsx';
import { Dialog } from '../shell/dialog.tsx';
import { branchById, closeDialog, useApp } from '../store/app.ts';
import { call } from '../store/engine.ts';

/** Why a branch does not run, and the end of the engine's log. */
export function LogDialog({ id }: { readonly id: string }) {
  const branch = useApp((app) => branchById(app, id));
  const [text, setText] = useState('');
  const again = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    call('engine.diagnostics', {}).then(
      (answer) => setText(answer.text),
      (failure: unknown) => setText(errorBody(failure).message),
    );
  }, []);
  if (branch === undefined) return null;
  return (
    <Dialog
      title={`${branch.name} does not run`}
      lead={branch.note ?? 'Its server ended and could not be started again.'}
      width={856}
      initialFocus={again}
      foot={
        <>
          <CopyButton size="medium" label="diagnostics" text={() => text}>
            Copy
          </CopyButton>
          <span className="push" />
          <Button size="medium" onClick={closeDialog}>
            Close <kbd aria-hidden="true">Esc</kbd>
          </Button>
          <Button
            look="primary"
            size="medium"
            ref={again}
            onClick={() => {
              closeDialog();
              runCommand(commands.bringBack, branch);
            }}
          >
            Try again
          </Button>
        </>
      }
    >
      <div className="dialog-text">
        <Code text={text} label="Diagnostics" />
      </div>
    </Dialog>
  );
}
