import { Button } from '../shell/controls.tsx';
import { Dialog } from '../shell/dialog.tsx';
import { closeDialog } from '../store/app.ts';
import { ImportForm } from './import-form.tsx';
import { useImport } from './import.ts';
import './start.css';

/** More data into main. */
export function ImportDialog() {
  const job = useImport();
  return (
    <Dialog
      title="Import data into main"
      lead="Sandboxes forked before do not get it; those forked from now on do."
      width={560}
      busy={job.running !== undefined}
      foot={
        <>
          <span className="push" />
          <Button size="medium" onClick={closeDialog} disabled={job.running !== undefined}>
            Close <kbd aria-hidden="true">Esc</kbd>
          </Button>
        </>
      }
    >
      <div className="dialog-text">
        <ImportForm job={job} onDone={closeDialog} />
      </div>
    </Dialog>
  );
}
