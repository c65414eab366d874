import type { Output } from '../../shared/api.ts';
import { toEjson } from '../../shared/bson/ejson.ts';
import { documentBytes, fromBase64 } from '../../shared/bson/value.ts';
import type { BsonValue } from '../../shared/bson/value.ts';
import { field } from '../../shared/bson/walk.ts';
import { DocumentView } from '../bson/document-view.tsx';
import { plainText } from '../bson/plain.ts';
import { CopyButton } from '../shell/controls.tsx';
import { KindMark } from '../shell/marks.tsx';
import { bytes } from '../shell/numbers.ts';
import { documentLines } from './document-lines.ts';
import type { Collection } from './read.ts';

type SchemaItem = Output<'diff.get'>['schema'][number];

/** The indexes of a collection; those that the branch changed are marked. */
export function Indexes({
  collection,
  changes,
}: {
  readonly collection: Collection;
  readonly changes: readonly SchemaItem[];
}) {
  const ofIndex = changes.filter(({ type }) => type === 'index');
  const gone = ofIndex.filter(({ kind }) => kind === 'removed');
  return (
    <div className="structure">
      <table className="grid index-grid" aria-label={`Indexes of ${collection.name}`}>
        <thead>
          <tr>
            <th>
              <span className="sr">Change</span>
            </th>
            <th>Name</th>
            <th>Keys</th>
            <th>Properties</th>
            <th className="num">Size</th>
          </tr>
        </thead>
        <tbody>
          {collection.indexes.map(({ name, spec, sizeBytes }) => {
            const change = ofIndex.find((one) => one.name === name && one.kind !== 'removed');
            return (
              <IndexRow key={name} name={name} spec={fromBase64(spec)} kind={change?.kind} sizeBytes={sizeBytes} />
            );
          })}
          {gone.map(({ name = '', base }) => (
            <IndexRow
              key={`gone ${name}`}
              name={name}
              spec={base === undefined ? undefined : fromBase64(base)}
              kind="removed"
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function IndexRow({
  name,
  spec,
  kind,
  sizeBytes,
}: {
  readonly name: string;
  readonly spec: BsonValue | undefined;
  readonly kind: SchemaItem['kind'] | undefined;
  readonly sizeBytes?: number | undefined;
}) {
  const key = spec === undefined ? undefined : field(documentBytes(spec), 'key');
  return (
    <tr className={kind === 'removed' ? 'is-gone' : ''}>
      <td>{kind === undefined ? null : <KindMark kind={kind} />}</td>
      <td className="mono" title={name}>
        {name}
      </td>
      <td className="mono">{key === undefined ? '' : plainText(key)}</td>
      <td>{spec === undefined ? '' : properties(spec)}</td>
      <td className="num">{kind === 'removed' ? 'dropped' : sizeBytes === undefined ? '' : bytes(sizeBytes)}</td>
    </tr>
  );
}

/** What an index does beyond its keys, in words. */
function properties(spec: BsonValue): string {
  const document = documentBytes(spec);
  const text = (name: string) => {
    const value = field(document, name);
    return value === undefined ? undefined : plainText(value);
  };
  const words = [
    text('unique') === 'true' ? 'unique' : '',
    text('sparse') === 'true' ? 'sparse' : '',
    text('hidden') === 'true' ? 'hidden' : '',
    text('expireAfterSeconds') === undefined ? '' : `documents expire after ${text('expireAfterSeconds') ?? ''} s`,
    text('partialFilterExpression') === undefined ? '' : `only ${text('partialFilterExpression') ?? ''}`,
    text('collation') === undefined ? '' : 'collation',
  ];
  return words.filter((word) => word !== '').join(', ');
}

/** How a collection was made: validator, view, options. */
export function Options({
  collection,
  changes,
}: {
  readonly collection: Collection;
  readonly changes: readonly SchemaItem[];
}) {
  const options = fromBase64(collection.options);
  const lines = documentLines(options, []);
  const changed = changes.filter(({ type }) => type !== 'index');
  return (
    <div className="structure">
      <div className="tool">
        <span className="soft small">
          {collection.type === 'view'
            ? 'What the view is made from.'
            : collection.validator === undefined
              ? 'No validator: documents of any shape are taken.'
              : 'With a validator: what does not fit is refused, or warned of.'}
        </span>
        {changed.map((change) => (
          <span key={`${change.type} ${change.kind}`} className="chip">
            <KindMark kind={change.kind} />
            {change.type} {change.kind === 'modified' ? 'changed' : change.kind} since the fork
          </span>
        ))}
        <span className="push" />
        <CopyButton label="options as EJSON" text={() => toEjson(options)}>
          EJSON
        </CopyButton>
      </div>
      {lines.length === 0 ? (
        <p className="structure-none soft">It was made without any options.</p>
      ) : (
        <DocumentView lines={lines} label="Options" onOpenFold={() => undefined} />
      )}
    </div>
  );
}
