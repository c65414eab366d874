import type { BranchRow } from '../../shared/api.ts';
import { useApp } from '../store/app.ts';
import type { NodeLook } from './rails.tsx';

/** A branch counts as active this long after its last captured write. */
const activeMs = 30_000;

/** How a branch's node looks now. */
export function nodeLook(branch: BranchRow, activeAt: Readonly<Record<string, number>>, now: number): NodeLook {
  const last = activeAt[branch.id];
  return branch.state === 'live' && last !== undefined && now - last < activeMs ? 'active' : branch.state;
}

export function useNodeLook(branch: BranchRow, now: number): NodeLook {
  return useApp((app) => nodeLook(branch, app.activeAt, now));
}

/** The state in words, read out after the name. */
export function stateWords(look: NodeLook): string {
  switch (look) {
    case 'active':
      return 'being written to';
    case 'live':
      return 'awake';
    case 'starting':
      return 'starting';
    case 'asleep':
      return 'asleep';
    case 'expired':
      return 'expired';
    case 'trashed':
      return 'discarded';
    case 'failed':
      return 'failed';
  }
}
