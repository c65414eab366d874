import { useState } from 'react';
import type { DocumentChange, FieldChange } from '../../shared/api.ts';
import { pathText } from '../bson/plain.ts';
import { plural } from '../shell/numbers.ts';
import type { Side } from './decisions.ts';
import { hasField } from './selection.ts';
import type { Selection } from './selection.ts';
import { sideText } from './side-text.ts';

/** Of changes that nobody has to decide, this many are shown at first. */
const shownAtFirst = 8;

interface SettledProps {
  readonly document: DocumentChange;
  readonly names: Readonly<Record<Side, string>>;
  readonly selection: Selection;
}

/** What else both sides did to a document: on one side alone, or alike. Nothing is decided here. */
export function SettledRows({ document, names, selection }: SettledProps) {
  const [isOpen, setOpen] = useState(false);
  const own = document.fields.filter((field) => field.class !== 'divergent');
  const rows = [
    ...own.map((field) => ({
      field,
      ...(field.class === 'convergent'
        ? { result: field.parent, label: 'alike' }
        : hasField(selection, document.ns, document.id, field.path)
          ? { result: field.branch, label: `only in ${names.branch}` }
          : { result: field.parent, label: `left in ${names.branch}` }),
    })),
    ...(document.parentFields ?? []).map((field) => ({
      field,
      result: field.parent,
      label: `only in ${names.parent}`,
    })),
  ];
  const shown = isOpen || rows.length <= shownAtFirst + 1 ? rows : rows.slice(0, shownAtFirst);
  return (
    <>
      {shown.map(({ field, result, label }) => (
        <tr key={rowKey(field, label)} className="auto">
          <th scope="row" className="cut">
            {pathText(field.path)}
            {field.order === true ? ' order' : ''}
          </th>
          <td className="cut">{sideText(field.base, undefined)}</td>
          <td className={sideClass(field, 'parent')}>{sideText(field.parent, field.base)}</td>
          <td className={sideClass(field, 'branch')}>{sideText(field.branch, field.base)}</td>
          <td className="result-col">
            <div>
              <span className="cut">{sideText(result, field.base)}</span> <span className="lbl">{label}</span>
            </div>
          </td>
        </tr>
      ))}
      {shown.length === rows.length ? null : (
        <tr className="auto">
          <td colSpan={5}>
            <button type="button" className="link" onClick={() => setOpen(true)}>
              Show {plural(rows.length - shown.length, 'more change')} that need no decision
            </button>
          </td>
        </tr>
      )}
    </>
  );
}

/** A side that did nothing is quiet. */
function sideClass(field: FieldChange, side: Side): string {
  return field[side] === field.base ? 'side-col cut quiet' : 'side-col cut';
}

function rowKey({ path, order }: FieldChange, label: string): string {
  return JSON.stringify([label, path, order === true]);
}
