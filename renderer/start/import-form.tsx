import { useId, useRef, useState } from 'react';
import { Button } from '../shell/controls.tsx';
import { ErrorNote } from '../shell/dialog.tsx';
import { count } from '../shell/numbers.ts';
import { isFile } from './import.ts';
import type { ImportJob } from './import.ts';
import { Problems } from './problems.tsx';

/** Import from a running MongoDB or a file. A file's documents go to a collection that is named here. */
export function ImportForm({ job, onDone }: { readonly job: ImportJob; readonly onDone: () => void }) {
  const [source, setSource] = useState('');
  const [db, setDb] = useState('');
  const [collection, setCollection] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  const file = isFile(source.trim());
  const busy = job.running !== undefined;
  const ready = source.trim() !== '' && !busy && (!file || (db.trim() !== '' && collection.trim() !== ''));

  const run = async (): Promise<void> => {
    if (!ready) return;
    const place = file ? { db: db.trim(), collection: collection.trim() } : {};
    if (await job.run(source.trim(), place)) onDone();
    else field.current?.focus();
  };
  return (
    <div
      className="import-form"
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return;
        event.preventDefault();
        void run();
      }}
    >
      <label htmlFor={`${id}-source`} className="soft">
        A running MongoDB, or the path of a file on this machine. It is only read from.
      </label>
      <div className="import-line">
        <div className="field field-ink">
          <input
            id={`${id}-source`}
            ref={field}
            aria-invalid={job.error !== undefined}
            aria-describedby={job.error === undefined ? undefined : `${id}-error`}
            className="mono"
            placeholder="mongodb://localhost:27017 or /path/to/file.json"
            spellCheck={false}
            autoComplete="off"
            value={source}
            onChange={(event) => setSource(event.target.value)}
          />
        </div>
      </div>
      {file ? (
        <div className="import-place">
          <label htmlFor={`${id}-db`}>Database</label>
          <div className="field field-ink">
            <input id={`${id}-db`} className="mono" value={db} onChange={(event) => setDb(event.target.value)} />
          </div>
          <label htmlFor={`${id}-collection`}>Collection</label>
          <div className="field field-ink">
            <input
              id={`${id}-collection`}
              className="mono"
              value={collection}
              onChange={(event) => setCollection(event.target.value)}
            />
          </div>
        </div>
      ) : null}
      <div className="import-line">
        <Button size="medium" icon={file ? 'import' : 'plug'} disabled={!ready} onClick={() => void run()}>
          {file ? 'Import' : 'Connect and copy'}
        </Button>
      </div>
      {busy && !job.running.startsWith('sample:') ? <ImportProgress job={job} /> : null}
      {job.error === undefined ? null : <ErrorNote id={`${id}-error`} error={job.error} />}
      <Problems problems={job.problems} />
    </div>
  );
}

export function ImportProgress({ job }: { readonly job: ImportJob }) {
  const { progress } = job;
  const share =
    progress?.done === undefined || progress.total === undefined || progress.total === 0
      ? undefined
      : Math.min(1, progress.done / progress.total);
  return (
    <span className="import-progress" role="status">
      <progress {...(share === undefined ? {} : { value: share })} max={1} aria-label="Import" />
      <span className="soft cut">{progressText(job)}</span>
    </span>
  );
}

/** `orders, 18,240 of 29,334` */
function progressText({ progress }: ImportJob): string {
  if (progress === undefined) return 'Reading';
  const { text, done, total } = progress;
  if (done === undefined || /\d/.test(text)) return text;
  return `${text}, ${count(done)}${total === undefined ? '' : ` of ${count(total)}`}`;
}
