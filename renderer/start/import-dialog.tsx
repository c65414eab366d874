import { useEffect, useRef, useState } from 'react';
import { Button } from '../shell/controls.tsx';
import { Dialog } from '../shell/dialog.tsx';
import { plural } from '../shell/numbers.ts';
import { closeDialog, openDialog } from '../store/app.ts';
import { isNameOf, useFileImport } from './file-import.ts';
import { ChooseFiles, FileList } from './file-list.tsx';
import { ImportForm } from './import-form.tsx';
import { useImport } from './import.ts';
import './start.css';

const lead = 'Sandboxes forked before do not get it; those forked from now on do.';

/** More data into main: files that were dropped or chosen, else from a running MongoDB. */
export function ImportDialog({ files }: { readonly files: readonly File[] | undefined }) {
  return files === undefined ? (
    <SourceDialog />
  ) : (
    <FilesDialog key={files.map(({ name }) => name).join('/')} files={files} />
  );
}

function SourceDialog() {
  const job = useImport();
  return (
    <Dialog
      title="Import data into main"
      lead={lead}
      width={560}
      busy={job.running !== undefined}
      foot={
        <>
          <ChooseFiles
            disabled={job.running !== undefined}
            onFiles={(chosen) => openDialog({ kind: 'import', files: chosen })}
          />
          <span className="soft small">or drop them anywhere on the window</span>
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

function FilesDialog({ files }: { readonly files: readonly File[] }) {
  const list = useFileImport(files);
  const [db, setDb] = useState('test');
  const database = useRef<HTMLInputElement>(null);
  const named = list.entries.every(({ collection }) => collection.trim() !== '');
  const ready = list.left && !list.busy && db.trim() !== '' && named;
  const badDatabase = list.entries.some(({ error }) => isNameOf('database', error));
  const run = async (): Promise<void> => {
    if (ready && (await list.run(db.trim()))) closeDialog();
  };
  const form = useRef<HTMLDivElement>(null);
  const { busy } = list;
  useEffect(() => {
    // Disabled fields lose the focus; it goes to the mistake once they can be typed in again.
    if (!busy) form.current?.querySelector<HTMLInputElement>('input[aria-invalid=true]')?.select();
  }, [busy]);
  return (
    <Dialog
      title={`Import ${plural(list.entries.length, 'file')} into main`}
      lead={lead}
      width={640}
      busy={list.busy}
      initialFocus={database}
      foot={
        <>
          <span className="push" />
          <Button size="medium" onClick={closeDialog} disabled={list.busy}>
            {list.left ? 'Cancel' : 'Close'} <kbd aria-hidden="true">Esc</kbd>
          </Button>
          <Button look="primary" size="medium" icon="import" keys="enter" disabled={!ready} onClick={() => void run()}>
            {list.busy ? 'Importing' : 'Import'}
          </Button>
        </>
      }
    >
      <div
        className="dialog-text import-form"
        ref={form}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return;
          event.preventDefault();
          void run();
        }}
      >
        <div className="file-db">
          <label htmlFor="files-db">Database</label>
          <div className="field field-ink">
            <input
              id="files-db"
              ref={database}
              className="mono"
              value={db}
              spellCheck={false}
              disabled={list.busy}
              aria-invalid={badDatabase}
              onChange={(event) => setDb(event.target.value)}
            />
          </div>
        </div>
        <FileList files={list} />
      </div>
    </Dialog>
  );
}
