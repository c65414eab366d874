import { count } from './numbers.ts';

export interface CountRow {
  added: number;
  modified: number;
  removed: number;
}

/** The heads of a table that counts what is added, changed and removed; the first column is the caller's. */
export function CountHeads({ first }: { readonly first: string }) {
  return (
    <thead>
      <tr>
        <th scope="col">{first}</th>
        <th scope="col">added</th>
        <th scope="col">changed</th>
        <th scope="col">removed</th>
      </tr>
    </thead>
  );
}

/** The cells of one of its rows behind the first. */
export function CountCells({ row: { added, modified, removed } }: { readonly row: Readonly<CountRow> }) {
  return (
    <>
      <td className={added > 0 ? 'c-add' : 'quiet'}>{added > 0 ? `+${count(added)}` : '0'}</td>
      <td className={modified > 0 ? 'c-mod' : 'quiet'}>{modified > 0 ? `~${count(modified)}` : '0'}</td>
      <td className={removed > 0 ? 'c-rem' : 'quiet'}>{removed > 0 ? `−${count(removed)}` : '0'}</td>
    </>
  );
}
