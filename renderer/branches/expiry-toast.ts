import type { Event } from '../../shared/api.ts';
import { chooseBranch, showToast, useApp } from '../store/app.ts';
import { bringBack, extend, keep } from './verbs.ts';

/** A sandbox that was meant to live no longer than this needs no warning of its end. */
const shortLifeMs = 15 * 60_000;

/** Says before a sandbox expires, and when it has, with what can be done about it. */
export function warnOfExpiry(event: Event): void {
  if (event.type !== 'expiry' || event.state === 'gone') return;
  const branch = useApp.getState().branches.find((row) => row.name === event.branch);
  if (branch === undefined) return;
  if (event.state === 'expired') {
    showToast({
      tone: 'problem',
      text: `${branch.name} has expired`,
      hint: 'With changes nobody reviewed, so it is kept for a day.',
      actions: [{ label: 'Bring back', run: () => void bringBack(branch) }],
    });
    return;
  }
  const lifeMs = Date.parse(event.at) - Date.parse(branch.forkedAt ?? event.at);
  if (lifeMs < shortLifeMs) return;
  const minutes = Math.max(1, Math.round((Date.parse(event.at) - Date.now()) / 60_000));
  showToast({
    tone: 'problem',
    text: `${branch.name} expires in ${String(minutes)} min`,
    actions: [
      { label: 'Extend 1 h', run: () => void extend(branch) },
      { label: 'Keep', run: () => void keep(branch) },
      { label: 'Review', run: () => chooseBranch(branch.id, 'review') },
    ],
  });
}
