import type { BranchRow } from '../../shared/api.ts';
import { Icon } from '../shell/icons.tsx';
import { moment, span, useNow } from '../shell/time.ts';

const soonMs = 20 * 60_000;
const circumference = 2 * Math.PI * 4.75;

/** Milliseconds until a branch expires; undefined where it is kept. */
function leftMs(branch: BranchRow, now: number): number | undefined {
  return branch.expiresAt === undefined ? undefined : Math.max(0, Date.parse(branch.expiresAt) - now);
}

/** The ring of time left with its minutes; ochre and strong under twenty. `long` is the sentence of the tab row. */
export function TimeLeft({ branch, long = false }: { readonly branch: BranchRow; readonly long?: boolean }) {
  const now = useNow(10_000);
  const left = leftMs(branch, now);
  if (left === undefined || branch.expiresAt === undefined) {
    return (
      <span className="ttl">
        <Icon name="pin" small />
        {long ? 'Kept until you discard it' : 'Kept'}
      </span>
    );
  }
  if (left === 0) {
    return (
      <span className="ttl soon">
        <Icon name="buffer-stop" small />
        Time is up
      </span>
    );
  }
  const whole = Date.parse(branch.expiresAt) - Date.parse(branch.forkedAt ?? branch.expiresAt);
  const share = whole <= 0 ? 0 : Math.min(1, left / whole);
  return (
    <span className={left < soonMs ? 'ttl soon' : 'ttl'}>
      <svg className="ring" viewBox="0 0 12 12" aria-hidden="true">
        <circle cx="6" cy="6" r="4.75" />
        <circle
          className="v"
          cx="6"
          cy="6"
          r="4.75"
          strokeDasharray={`${(share * circumference).toFixed(1)} ${circumference.toFixed(1)}`}
        />
      </svg>
      {long ? `Expires in ${span(left)}, at ${moment(branch.expiresAt, now)}` : span(left)}
      {long ? null : <span className="sr"> left</span>}
    </span>
  );
}
