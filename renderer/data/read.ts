import { useEffect, useRef, useState } from 'react';
import type { BranchRow, ChangeKind, Output } from '../../shared/api.ts';
import { fromBase64 } from '../../shared/bson/value.ts';
import { errorBody } from '../../shared/errors.ts';
import type { ErrorBody } from '../../shared/errors.ts';
import { call, isConnectionLoss } from '../store/engine.ts';
import { rowOf } from './columns.ts';
import type { Row } from './columns.ts';

type Databases = Output<'data.collections'>['databases'];
export type Collection = Databases[number]['collections'][number];

/** What the engine answers, kept until something better comes; asked for again when `key` changes. */
function useAnswer<T>(key: string, ask: (signal: AbortSignal) => Promise<T>): { value?: T; error?: ErrorBody } {
  const [answer, setAnswer] = useState<{ value?: T; error?: ErrorBody }>({});
  const asked = useRef(ask);
  useEffect(() => {
    asked.current = ask;
  });
  useEffect(() => {
    const stop = new AbortController();
    asked.current(stop.signal).then(
      (value) => {
        if (!stop.signal.aborted) setAnswer({ value });
      },
      (failure: unknown) => {
        if (!stop.signal.aborted && !isConnectionLoss(failure)) setAnswer({ error: errorBody(failure) });
      },
    );
    return () => {
      stop.abort();
    };
  }, [key]);
  return answer;
}

/** The databases of a branch with their collections. */
export function useCollections(branch: BranchRow, turn: number): { value?: Databases; error?: ErrorBody } {
  return useAnswer(`${branch.id} ${branch.state} ${String(turn)} ${String(branch.databases)}`, async (signal) => {
    return (await call('data.collections', { branch: branch.name }, { signal })).databases;
  });
}

/** How a sandbox differs from its parent as a whole: counts and schema items by collection, and gaps. */
export function useDifference(branch: BranchRow, turn: number): Output<'diff.get'> | undefined {
  const asked = branch.parent === undefined ? undefined : branch.name;
  const { value } = useAnswer(`${branch.id} ${branch.state} ${String(turn)}`, async (signal) =>
    asked === undefined ? undefined : call('diff.get', { branch: asked, summary: true }, { signal }),
  );
  return value;
}

/** The documents of one collection that the sandbox changed, by `_id`; the first thousand. */
export interface Touched {
  readonly kinds: ReadonlyMap<string, ChangeKind>;
  /** The last write to each. */
  readonly last: ReadonlyMap<string, LastWrite>;
  readonly more: boolean;
}

export type LastWrite = Output<'data.lastWrites'>['writes'][number];

export function useTouched(branch: BranchRow, ns: string, turn: number): Touched | undefined {
  const asked = branch.parent === undefined ? undefined : branch.name;
  const { value } = useAnswer(`${branch.id} ${ns} ${String(turn)}`, async (signal) => {
    if (asked === undefined) return undefined;
    const diff = await call('diff.get', { branch: asked, only: [{ ns }], limit: 1_000 }, { signal });
    const kinds = new Map(diff.documents.flatMap((one) => (one.ns === ns ? [[one.id, one.kind] as const] : [])));
    const { writes } = await call('data.lastWrites', { branch: asked, ns, ids: [...kinds.keys()] }, { signal });
    return { kinds, last: new Map(writes.map((write) => [write.id, write])), more: diff.next !== undefined };
  });
  return value;
}

export interface Documents {
  readonly rows: readonly Row[];
  readonly loading: boolean;
  readonly error: ErrorBody | undefined;
  /** How long the first page took, milliseconds. */
  readonly ms: number | undefined;
  readonly more: boolean;
  readonly loadMore: () => void;
}

const pageSize = 100;

/** A query's documents, page by page. For another query mount anew. */
export function useDocuments(query: {
  readonly branch: string;
  readonly ns: string;
  readonly filter: string;
  readonly sort: string;
}): Documents {
  const [rows, setRows] = useState<readonly Row[]>([]);
  const [next, setNext] = useState<string>();
  const [loading, setLoading] = useState(true);
  const [error, setError] = useState<ErrorBody>();
  const [ms, setMs] = useState<number>();
  const first = useRef(query);
  const stop = useRef(new AbortController());
  const reading = useRef(false);

  const read = async (after: string | undefined): Promise<void> => {
    const { branch, ns, filter, sort } = first.current;
    reading.current = true;
    const startedAt = performance.now();
    const { signal } = stop.current;
    try {
      const answer = await call(
        'data.documents',
        {
          branch,
          ns,
          limit: pageSize,
          ...(filter.trim() === '' ? {} : { filter }),
          ...(sort.trim() === '' ? {} : { sort }),
          ...(after === undefined ? {} : { after }),
        },
        { signal },
      );
      if (signal.aborted) return;
      const fresh = answer.documents.map((bson) => rowOf(bson, fromBase64(bson)));
      setRows((before) => (after === undefined ? fresh : [...before, ...fresh]));
      setNext(answer.next);
      setError(undefined);
      if (after === undefined) setMs(performance.now() - startedAt);
    } catch (failure) {
      if (signal.aborted || isConnectionLoss(failure)) return;
      setError(errorBody(failure));
    } finally {
      reading.current = false;
      if (!signal.aborted) setLoading(false);
    }
  };
  const started = useRef(read);
  useEffect(() => {
    stop.current = new AbortController();
    void started.current(undefined);
    return () => {
      stop.current.abort();
    };
  }, []);
  const loadMore = (): void => {
    if (next === undefined || reading.current || error !== undefined) return;
    void read(next);
  };
  return { rows, loading, error, ms, more: next !== undefined, loadMore };
}
