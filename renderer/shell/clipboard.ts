import { showToast } from '../store/app.ts';

/** Copies a text; where the system refuses, says so and answers false. */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (window.forkyard === undefined) await navigator.clipboard.writeText(text);
    else await window.forkyard.copyText(text);
    return true;
  } catch {
    if (copyBySelection(text)) return true;
    showToast({
      tone: 'problem',
      text: 'The clipboard did not take it.',
      hint: 'Allow this page to use the clipboard, or select the text and copy it yourself.',
    });
    return false;
  }
}

/** The old way, for pages whose clipboard permission was refused. */
function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('aria-hidden', 'true');
  area.className = 'sr';
  const focused = document.activeElement;
  (document.querySelector('[role=dialog]') ?? document.body).append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}
