import type { AccessLevel } from '../../shared/api.ts';
import { Segments } from '../shell/controls.tsx';
import { accessHints, accessLevels, accessNames } from './access.ts';

/** What an actor may do, as a line of a form: the choice, and what it means. */
export function AccessChoice({
  value,
  onChange,
}: {
  readonly value: AccessLevel;
  readonly onChange: (access: AccessLevel) => void;
}) {
  return (
    <>
      <span className="lab">Access</span>
      <Segments
        large
        label="Access"
        value={value}
        onChange={onChange}
        choices={accessLevels.map((level) => ({ value: level, label: accessNames[level] }))}
      />
      <p className="hint">{accessHints[value]}</p>
    </>
  );
}
