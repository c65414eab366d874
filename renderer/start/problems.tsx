import type { Output } from '../../shared/api.ts';
import { Icon } from '../shell/icons.tsx';
import { count } from '../shell/numbers.ts';

const shown = 20;

/** What did not go over in an import, by line where it was a file. */
export function Problems({ problems }: { readonly problems: Output<'transfer.import'>['problems'] }) {
  if (problems.length === 0) return null;
  return (
    <ul className="problems" aria-label="Problems">
      {problems.slice(0, shown).map((problem, index) => (
        <li key={index}>
          <Icon name="alert" />
          <span>
            {problem.line === undefined ? '' : `Line ${count(problem.line)}: `}
            {problem.message}
          </span>
        </li>
      ))}
      {problems.length > shown ? <li className="soft">and {count(problems.length - shown)} more</li> : null}
    </ul>
  );
}
