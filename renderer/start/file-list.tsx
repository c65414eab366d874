import { useId } from 'react';
import { Button, IconButton } from '../shell/controls.tsx';
import { ErrorNote } from '../shell/dialog.tsx';
import { Icon } from '../shell/icons.tsx';
import { bytes, count, plural } from '../shell/numbers.ts';
import { useApp } from '../store/app.ts';
import { fileTypes, isNameOf } from './file-import.ts';
import type { FileEntry, FileImport } from './file-import.ts';
import { Problems } from './problems.tsx';

/** Each file with the collection it goes to, how far it is, and what is wrong with it. */
export function FileList({ files }: { readonly files: FileImport }) {
  return (
    <ul className="files" aria-label="Files">
      {files.entries.map((entry, index) => (
        <FileRow key={`${entry.file.name} ${String(index)}`} entry={entry} index={index} files={files} />
      ))}
    </ul>
  );
}

function FileRow({
  entry,
  index,
  files,
}: {
  readonly entry: FileEntry;
  readonly index: number;
  readonly files: FileImport;
}) {
  const id = useId();
  const { file, state, error, problems, collection } = entry;
  return (
    <li className="file-row">
      <div className="file-line">
        <Icon name={state === 'done' ? 'check' : state === 'failed' ? 'alert' : 'import'} />
        <span className="mono cut file-name" title={file.name}>
          {file.name}
        </span>
        <span className="soft small nowrap">{bytes(file.size)}</span>
        <label className="soft small" htmlFor={id}>
          into
        </label>
        <div className="field field-s">
          <input
            id={id}
            className="mono"
            aria-label={`Collection for ${file.name}`}
            aria-invalid={isNameOf('collection', error)}
            aria-describedby={error === undefined ? undefined : `${id}-error`}
            value={collection}
            spellCheck={false}
            disabled={files.busy || state === 'done'}
            onChange={(event) => files.name(index, event.target.value)}
          />
        </div>
        <IconButton
          look="bare"
          icon="close"
          label={`Leave ${file.name} out`}
          disabled={files.busy || state === 'done'}
          onClick={() => files.remove(index)}
        />
      </div>
      <FileState entry={entry} />
      {error === undefined ? null : <ErrorNote id={`${id}-error`} error={error} />}
      <Problems problems={problems} />
    </li>
  );
}

function FileState({ entry }: { readonly entry: FileEntry }) {
  const { state, share, job, documents, problems } = entry;
  const progress = useApp((app) => (job === undefined ? undefined : app.progress[job]));
  switch (state) {
    case 'handing-over':
      return <Bar share={share} text={`Handing it over, ${String(Math.round(share * 100))} %`} />;
    case 'importing': {
      const { done, total, text = 'Reading' } = progress ?? {};
      const known = done !== undefined && total !== undefined && total > 0;
      return (
        <Bar
          share={known ? done / total : undefined}
          text={known ? `${text}, ${count(done)} of ${count(total)}` : text}
        />
      );
    }
    case 'done':
      return (
        <p className="soft small">
          {documents === 0 && problems.length === 0
            ? 'The file holds no document: nothing was imported'
            : `${plural(documents, 'document')} imported`}
          {problems.length === 0 ? '' : `, ${plural(problems.length, 'problem')}`}
        </p>
      );
    default:
      return null;
  }
}

function Bar({ share, text }: { readonly share: number | undefined; readonly text: string }) {
  return (
    <span className="import-progress" role="status">
      <progress {...(share === undefined ? {} : { value: Math.min(1, share) })} max={1} aria-label="Import" />
      <span className="soft cut">{text}</span>
    </span>
  );
}

/** A button that opens the system's choice of files; the way without a mouse to what a drop does. */
export function ChooseFiles({
  onFiles,
  disabled = false,
}: {
  readonly onFiles: (files: readonly File[]) => void;
  readonly disabled?: boolean;
}) {
  const id = useId();
  return (
    <>
      <input
        id={id}
        type="file"
        multiple
        hidden
        accept={[...fileTypes, '.gz'].join(',')}
        onChange={(event) => {
          const chosen = [...(event.target.files ?? [])];
          event.target.value = '';
          if (chosen.length > 0) onFiles(chosen);
        }}
      />
      <Button disabled={disabled} onClick={() => document.getElementById(id)?.click()}>
        Choose files
      </Button>
    </>
  );
}
