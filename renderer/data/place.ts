import { create } from 'zustand';

export type View = 'table' | 'lines' | 'indexes' | 'options';

/** What is looked at in one branch's data. Kept while other tabs are open. */
export interface Place {
  /** `database.collection`; undefined until one is chosen: then the first there is. */
  readonly ns: string | undefined;
  /** As typed and run last. */
  readonly filter: string;
  readonly sort: string;
  readonly view: View;
  /** Only documents that the branch changed. */
  readonly changedOnly: boolean;
  /** Grows when the same is to be read again. */
  readonly turn: number;
}

const start: Place = { ns: undefined, filter: '', sort: '', view: 'table', changedOnly: false, turn: 0 };

/** By branch id. */
const usePlaces = create<Readonly<Record<string, Place>>>()(() => ({}));

export function usePlace(branch: string): Place {
  return usePlaces((places) => places[branch] ?? start);
}

export function goTo(branch: string, change: Partial<Place>): void {
  usePlaces.setState((places) => ({ [branch]: { ...(places[branch] ?? start), ...change } }));
}
