import { DiscardDialog } from '../branches/discard-dialog.tsx';
import { ResetDialog } from '../branches/reset-dialog.tsx';
import { LogDialog } from '../branches/log-dialog.tsx';
import { PinDialog } from '../branches/pin-dialog.tsx';
import { PinnedDialog } from '../branches/pinned-dialog.tsx';
import { UnpinDialog } from '../branches/unpin-dialog.tsx';
import { ForkDialog } from '../branches/fork-dialog.tsx';
import { ActorDialog } from '../connect/actor-dialog.tsx';
import { RestoreAsDialog } from '../history/restore-as-dialog.tsx';
import { RestoreDialog, UndoChangesDialog, UndoEntryDialog } from '../history/back-dialogs.tsx';
import { AdoptionsDialog } from '../review/adoptions.tsx';
import { PlanDialog } from '../review/plan-dialog.tsx';
import { SettingsDialog } from '../settings/settings-dialog.tsx';
import { ResetDemoDialog } from '../start/reset-demo-dialog.tsx';
import { ImportDialog } from '../start/import-dialog.tsx';
import { useApp } from '../store/app.ts';
import { Palette } from './palette.tsx';

/** The dialog that is open, if any. */
export function Dialogs() {
  const dialog = useApp((app) => app.dialog);
  switch (dialog?.kind) {
    case undefined:
      return null;
    case 'fork':
      return <ForkDialog from={dialog.from} name={dialog.name} />;
    case 'pin':
      return <PinDialog id={dialog.branch} />;
    case 'pinned':
      return <PinnedDialog name={dialog.pin} />;
    case 'unpin':
      return <UnpinDialog name={dialog.pin} />;
    case 'discard':
      return <DiscardDialog id={dialog.branch} />;
    case 'restore':
      return <RestoreDialog id={dialog.branch} seq={dialog.seq} />;
    case 'restore-as':
      return <RestoreAsDialog id={dialog.branch} seq={dialog.seq} />;
    case 'undo':
      return <UndoEntryDialog entry={dialog.entry} text={dialog.text} />;
    case 'undo-changes':
      return <UndoChangesDialog id={dialog.branch} what={dialog.what} />;
    case 'adopt':
      return <PlanDialog id={dialog.branch} />;
    case 'adoptions':
      return <AdoptionsDialog id={dialog.branch} />;
    case 'actor':
      return <ActorDialog id={dialog.branch} />;
    case 'settings':
      return <SettingsDialog />;
    case 'import':
      return <ImportDialog files={dialog.files} />;
    case 'reset':
      return <ResetDialog id={dialog.branch} />;
    case 'log':
      return <LogDialog id={dialog.branch} />;
    case 'reset-demo':
      return <ResetDemoDialog />;
    case 'commands':
      return <Palette />;
  }
}
