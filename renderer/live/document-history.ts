import { useEffect, useState } from 'react';
import type { Change } from '../../shared/api.ts';
import { call } from '../store/engine.ts';
import type { Feed } from './feed.ts';
import type { DocumentRef } from './show-in-live.ts';

const mostWrites = 1_000;
/** While the branch is written to, its history is read again this long after the last write seen. */
const quietMs = 250;

/** Every recorded write to one document, oldest first, however far back; undefined until read. */
export function useDocumentHistory(feed: Feed, document: DocumentRef | undefined): readonly Change[] | undefined {
  const [read, setRead] = useState<{ readonly of: DocumentRef; readonly changes: readonly Change[] }>();
  const { name, head } = feed;
  useEffect(() => {
    if (document === undefined) return;
    let wanted = true;
    const load = (): void => {
      call('changes.ofDocument', { branch: name, ...document, limit: mostWrites }).then(
        ({ changes }) => (wanted ? setRead({ of: document, changes }) : undefined),
        () => undefined,
      );
    };
    const timer = setTimeout(load, read?.of === document ? quietMs : 0);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [name, head, document]);
  return read?.of === document ? read?.changes : undefined;
}
