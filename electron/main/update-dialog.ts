import { app, dialog, net, shell } from 'electron';
import { askForUpdate } from './updates.ts';
import type { UpdateAnswer } from './updates.ts';

const patienceMs = 15_000;

/** Asks whether there is a newer release, since the user wants to know, and says what came of it. */
export async function tellUpdate(log: (line: string) => void): Promise<void> {
  const answer = await askForUpdate({
    resources: app.isPackaged ? process.resourcesPath : undefined,
    platform: process.platform,
    arch: process.arch,
    version: app.getVersion(),
    fetch: (url) => net.fetch(url, { cache: 'no-store', signal: AbortSignal.timeout(patienceMs) }),
  });
  log(`asked for updates: ${answer.kind}${answer.kind === 'failed' ? `, ${answer.reason}` : ''}`);
  const { response } = await dialog.showMessageBox({
    type: answer.kind === 'failed' ? 'warning' : 'info',
    ...wordsFor(answer),
    buttons: answer.kind === 'newer' ? ['Download in the Browser', 'Later'] : ['OK'],
    cancelId: answer.kind === 'newer' ? 1 : 0,
    noLink: true,
  });
  if (answer.kind === 'newer' && response === 0) await shell.openExternal(answer.file);
}

function wordsFor(answer: UpdateAnswer): { readonly message: string; readonly detail: string } {
  const own = `This is Forkyard ${app.getVersion()}.`;
  switch (answer.kind) {
    case 'nowhere':
      return {
        message: 'This copy of Forkyard has nowhere to ask for updates.',
        detail: `${own} A newer one is where you got it from.`,
      };
    case 'newest':
      return { message: 'Forkyard is up to date.', detail: `${own} There is no newer one.` };
    case 'newer':
      return {
        message: `Forkyard ${answer.version} is there.`,
        detail: `${own} Nothing is downloaded or installed by itself.`,
      };
    case 'failed':
      return {
        message: 'Whether there is a newer Forkyard could not be found out.',
        detail: `${answer.reason}\n${own} Try again when this machine is online.`,
      };
  }
}
