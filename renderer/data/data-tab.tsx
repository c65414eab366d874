import { useRef, useState } from 'react';
import type { BranchRow, Output } from '../../shared/api.ts';
import { Button, IconButton, Segments } from '../shell/controls.tsx';
import { ErrorNote } from '../shell/dialog.tsx';
import { Icon } from '../shell/icons.tsx';
import { commands, runCommand } from '../shell/commands.ts';
import { count, plural } from '../shell/numbers.ts';
import { hasEnded } from '../store/app.ts';
import { CollectionTree } from './collections.tsx';
import type { Row } from './columns.ts';
import { DocumentDetail } from './document-detail.tsx';
import { DocumentTable } from './document-table.tsx';
import { goTo, usePlace } from './place.ts';
import type { Place, View } from './place.ts';
import { amongIds, nextSort } from './query.ts';
import { QueryBar } from './query-bar.tsx';
import { useCollections, useDifference, useDocuments, useTouched } from './read.ts';
import type { Collection, Documents, Touched } from './read.ts';
import { Indexes, Options } from './structure.tsx';
import './data.css';

/** What a branch holds: read-only. */
export function Data({ branch }: { readonly branch: BranchRow }) {
  if (hasEnded(branch) || branch.state === 'failed' || branch.state === 'asleep') return <NotRunning branch={branch} />;
  return <Browser branch={branch} />;
}

function NotRunning({ branch }: { readonly branch: BranchRow }) {
  const ended = hasEnded(branch);
  return (
    <section className="blank" aria-label="Data">
      <h2>
        {branch.name} {ended ? 'has ended' : branch.state === 'asleep' ? 'is asleep' : 'does not run'}
      </h2>
      <p className="soft">Its data is still there. {ended ? 'Bring it back' : 'Wake it'} to look at it.</p>
      <Button size="medium" icon="undo" onClick={() => runCommand(commands.bringBack, branch)}>
        {ended ? 'Bring back' : 'Wake'}
      </Button>
    </section>
  );
}

function Browser({ branch }: { readonly branch: BranchRow }) {
  const place = usePlace(branch.id);
  const collections = useCollections(branch, place.turn);
  const difference = useDifference(branch, place.turn);
  if (collections.error !== undefined) {
    return (
      <div className="body">
        <ErrorNote error={collections.error} />
      </div>
    );
  }
  const databases = collections.value;
  if (databases === undefined) return <div className="body" aria-busy="true" />;
  const all = databases.flatMap((database) => database.collections);
  const collection = all.find(({ ns }) => ns === place.ns) ?? mostUseful(all);
  if (collection === undefined) {
    return (
      <section className="blank" aria-label="Data">
        <h2>{branch.name} holds nothing yet</h2>
        <p className="soft">Connect a program to it, or import a file: drop it anywhere on this window.</p>
      </section>
    );
  }
  return (
    <div className="body data">
      <CollectionTree
        databases={databases}
        chosen={collection.ns}
        difference={difference}
        onChoose={(ns) => goTo(branch.id, { ns, filter: '', sort: '', changedOnly: false })}
      />
      <CollectionPane
        key={collection.ns}
        branch={branch}
        place={place}
        collection={collection}
        difference={difference}
      />
    </div>
  );
}

/** The one to begin with: the first collection that holds something. */
function mostUseful(all: readonly Collection[]): Collection | undefined {
  return all.find(({ type, documents }) => type === 'collection' && (documents ?? 0) > 0) ?? all[0];
}

interface PaneProps {
  readonly branch: BranchRow;
  readonly place: Place;
  readonly collection: Collection;
  readonly difference: Output<'diff.get'> | undefined;
}

function CollectionPane({ branch, place, collection, difference }: PaneProps) {
  const touched = useTouched(branch, collection.ns, place.turn);
  const changes = (difference?.schema ?? []).filter(({ ns }) => ns === collection.ns);
  if (place.view === 'indexes' || place.view === 'options') {
    return (
      <div className="data-wide">
        <div className="tool">
          <Views branch={branch} place={place} collection={collection} />
          <span className="push" />
        </div>
        {place.view === 'indexes' ? (
          <Indexes collection={collection} changes={changes} />
        ) : (
          <Options collection={collection} changes={changes} />
        )}
      </div>
    );
  }
  const ids = [...(touched?.kinds ?? [])].filter(([, kind]) => kind !== 'removed').map(([id]) => id);
  const filter = place.changedOnly && touched !== undefined ? amongIds(place.filter, ids) : place.filter;
  // Another query is read from its beginning.
  const key = JSON.stringify([filter, place.sort, place.turn]);
  return (
    <QueryPane
      key={key}
      branch={branch}
      place={place}
      collection={collection}
      filter={filter}
      touched={touched}
      changed={ids.length}
    />
  );
}

function QueryPane({
  branch,
  place,
  collection,
  filter,
  touched,
  changed,
}: Omit<PaneProps, 'difference'> & {
  readonly filter: string;
  readonly touched: Touched | undefined;
  /** How many documents the branch changed and still has. */
  readonly changed: number;
}) {
  const { ns, name } = collection;
  const documents = useDocuments({ branch: branch.name, ns, filter, sort: place.sort });
  const [chosen, setChosen] = useState<Row>();
  const [compare, setCompare] = useState(false);
  const [readAt] = useState(branch.seq);
  const detail = useRef<HTMLElement>(null);
  const row = chosen ?? documents.rows[0];
  const again = (): void => goTo(branch.id, { turn: place.turn + 1 });
  return (
    <>
      <QueryBar
        filter={place.filter}
        sort={place.sort}
        refused={documents.error}
        onRun={(nextFilter, sort) => goTo(branch.id, { ns, filter: nextFilter, sort, turn: place.turn + 1 })}
      />
      <div className="tool data-tool">
        <Views branch={branch} place={place} collection={collection} />
        {touched === undefined || touched.kinds.size === 0 ? null : (
          <Segments
            label="Which documents"
            value={place.changedOnly ? 'changed' : 'all'}
            onChange={(next) => goTo(branch.id, { ns, changedOnly: next === 'changed' })}
            choices={[
              { value: 'all', label: 'All' },
              { value: 'changed', label: `Changed since the fork, ${count(changed)}${touched.more ? '+' : ''}` },
            ]}
          />
        )}
        <span className="soft small cut" role="status">
          {foundText(documents, collection, filter)}
        </span>
        <span className="push" />
        {branch.seq > readAt ? <span className="soft small nowrap">Written to since</span> : null}
        <IconButton label="Read again" icon="refresh" look="bare" onClick={again} />
        <span className="chip">
          <Icon name="lock" small />
          Read-only
        </span>
      </div>
      <DocumentTable
        name={name}
        documents={documents}
        touched={touched}
        sort={place.sort}
        lines={place.view === 'lines'}
        chosen={row?.bson}
        onChoose={setChosen}
        onSort={(column) => goTo(branch.id, { ns, sort: nextSort(place.sort, column) })}
        onOpen={() => detail.current?.focus()}
      />
      {row === undefined ? (
        <aside className="detail data-detail" aria-label="Document">
          <p className="detail-none soft">
            {documents.loading ? '' : documents.error === undefined ? 'No document fits.' : 'Nothing was read.'}
          </p>
        </aside>
      ) : (
        <DocumentDetail
          key={row.bson}
          branch={branch}
          ns={ns}
          row={row}
          compare={compare}
          onCompare={setCompare}
          place={detail}
        />
      )}
    </>
  );
}

function Views({ branch, place, collection }: Omit<PaneProps, 'difference'>) {
  return (
    <Segments
      label="View"
      value={place.view}
      onChange={(view: View) => goTo(branch.id, { ns: collection.ns, view })}
      choices={[
        { value: 'table', label: 'Table' },
        { value: 'lines', label: 'Lines' },
        {
          value: 'indexes',
          label: `Indexes${collection.indexes.length === 0 ? '' : ` ${count(collection.indexes.length)}`}`,
        },
        { value: 'options', label: collection.validator === undefined ? 'Options' : 'Validator' },
      ]}
    />
  );
}

/** `2,482 documents, 6 ms`, or how many were read of those that fit. */
function foundText({ rows, loading, error, ms, more }: Documents, collection: Collection, filter: string): string {
  if (error !== undefined) return '';
  if (loading || ms === undefined) return 'Reading';
  const time = `${count(Math.max(1, Math.round(ms)))} ms`;
  if (!more) return `${plural(rows.length, 'document')}, ${time}`;
  if (filter.trim() === '' && collection.documents !== undefined) {
    return `${plural(collection.documents, 'document')}, ${time}`;
  }
  return `The first ${count(rows.length)}, more below, ${time}`;
}
