import { MongoNetworkError, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { ForkyardError } from '../../../shared/errors.ts';
import type {
  ImportedCollection,
  ImportOptions,
  ImportResult,
  ImportSource,
  ImportTarget,
  Namespace,
} from './contract.ts';
import { importDeployment } from './deployment.ts';
import { importFile } from './file.ts';
import { importSample } from './samples/sample.ts';
import { ImportWriter } from './writer.ts';

/**
 * Imports into a branch. Documents that the branch refuses are named in `problems` and the rest is imported; what is
 * wrong with the source as a whole throws before anything is written: ForkyardError `usage`, `name_invalid`,
 * `source_unreadable`, `source_unreachable`, `import_parse`; what ends it later (`aborted`, `no_space`, `write_refused`,
 * `branch_not_live`, `source_unreachable`) says what is there already.
 */
export async function importInto(
  target: ImportTarget,
  source: ImportSource,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const writer = new ImportWriter(target);
  try {
    await run(target, source, options, writer);
  } catch (error) {
    throw ended(error, target, await writer.settle());
  }
  return writer.result();
}

async function run(
  target: ImportTarget,
  source: ImportSource,
  options: ImportOptions,
  writer: ImportWriter,
): Promise<void> {
  const { db, collection } = options;
  switch (source.kind) {
    case 'file':
      await importFile(source.path, fileNamespace(options), target, writer);
      break;
    case 'sample':
      if (collection !== undefined) throw new ForkyardError('usage', 'A sample brings its own collections.');
      if (db !== undefined) checkDatabase(db);
      await importSample(source.name, db ?? 'shop', target, writer);
      break;
    case 'deployment':
      if (collection !== undefined && db === undefined) {
        throw new ForkyardError('usage', 'A collection of a deployment is named together with its database (--db).');
      }
      await importDeployment(source.uri, options, target, writer);
      break;
  }
}

/** OutOfDiskSpace. */
const outOfDiskSpace = 14031;

/** What ended an import, in words, with what the branch has taken before. */
function ended(error: unknown, { signal }: ImportTarget, there: readonly ImportedCollection[]): unknown {
  const said = there.map(({ ns, documents }) => `${documents.toLocaleString('en')} documents of ${ns}`).join(', ');
  const details = { collections: there };
  if (signal.aborted) {
    return new ForkyardError('aborted', `The import was cancelled; ${said || 'no documents'} had been imported.`, {
      details,
    });
  }
  let known: ForkyardError;
  if (error instanceof ForkyardError) {
    known = error;
  } else if (error instanceof MongoServerError) {
    const code = error.code === outOfDiskSpace ? 'no_space' : 'write_refused';
    known = new ForkyardError(code, `The branch refused the import: ${error.message}.`, { cause: error });
  } else if (error instanceof MongoNetworkError || error instanceof MongoServerSelectionError) {
    known = new ForkyardError('branch_not_live', 'The branch stopped answering during the import.', { cause: error });
  } else {
    return error;
  }
  if (there.length === 0) return known;
  return new ForkyardError(known.code, `${known.message} Before that, ${said} had been imported.`, {
    ...(known.hint === undefined ? {} : { hint: known.hint }),
    retry: known.retry,
    details: { ...known.details, ...details },
    cause: error,
  });
}

function fileNamespace({ db, collection }: ImportOptions): Namespace {
  if (db === undefined || collection === undefined) {
    throw new ForkyardError('usage', 'A file needs a database and a collection to go to.', {
      hint: 'Name them with --db and --collection.',
    });
  }
  checkDatabase(db);
  checkCollection(collection);
  return { db, collection };
}

/** As the server has it, on the strictest of its systems. */
function checkDatabase(db: string): void {
  if (/[/\\. "$*<>:|?\0]/.test(db) || db === '' || Buffer.byteLength(db) > 63) {
    throw new ForkyardError('name_invalid', `${JSON.stringify(db)} cannot be the name of a database.`, {
      hint: 'At most 63 bytes, without spaces and any of / \\ . " $ * < > : | ?',
      details: { name: 'database' },
    });
  }
  if (['admin', 'local', 'config'].includes(db)) {
    throw new ForkyardError('name_invalid', `The database ${db} belongs to the server; nothing is imported into it.`, {
      hint: 'Choose another database.',
      details: { name: 'database' },
    });
  }
}

function checkCollection(collection: string): void {
  if (collection === '' || /[$\0]/.test(collection) || /^(system)?\./.test(collection)) {
    throw new ForkyardError('name_invalid', `${JSON.stringify(collection)} cannot be the name of a collection.`, {
      hint: 'It has no $ and begins neither with "system." nor with a dot.',
      details: { name: 'collection' },
    });
  }
}
