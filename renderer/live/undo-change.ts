import type { BranchRow, Change } from '../../shared/api.ts';
import { errorBody } from '../../shared/errors.ts';
import { undo } from '../branches/verbs.ts';
import { pathText } from '../bson/plain.ts';
import { count } from '../shell/numbers.ts';
import { chooseTab, showToast } from '../store/app.ts';
import { call } from '../store/engine.ts';

let running = false;

/**
 * Takes one write of a branch back, field by field: what came later in the same document stays. Where a later write changed the
 * same, nothing is done and it is said.
 */
export async function undoChange(branch: Pick<BranchRow, 'name'>, change: Change): Promise<void> {
  if (running) return;
  running = true;
  try {
    const plan = await call('changes.undo', { branch: branch.name, what: { seqs: [change.seq] } });
    const [conflict] = plan.conflicting;
    if (conflict !== undefined) {
      const fields = conflict.fields
        .filter((field) => field.class === 'divergent')
        .map((field) => pathText(field.path));
      showToast({
        tone: 'problem',
        text: `Change ${count(change.seq)} was not taken back: ${fields.join(', ')} was changed again since.`,
        hint: 'Take the later change back first.',
      });
      return;
    }
    const { applied, entry } = await call('plan.apply', { plan: plan.plan });
    showToast({
      tone: 'done',
      text: applied === 0 ? 'Nothing of this change is left to take back' : `Took change ${count(change.seq)} back`,
      actions: [
        ...(entry === undefined ? [] : [{ label: 'Undo', run: () => void undo({ entry }) }]),
        { label: 'View', run: () => chooseTab('history') },
      ],
    });
  } catch (error) {
    const { message, hint } = errorBody(error);
    showToast({ tone: 'problem', text: message, hint });
  } finally {
    running = false;
  }
}
