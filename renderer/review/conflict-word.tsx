import { Icon } from '../shell/icons.tsx';

/** The word beside what must be decided. */
export function ConflictWord() {
  return (
    <span className="con-n c-con">
      <Icon name="conflict" small />
      conflict
    </span>
  );
}
