import { chooseBranch } from '../store/app.ts';

let request = '';

/** Opens the feed of a branch with its text filter set. */
export function showInLive(branch: string, text: string): void {
  request = text.toLowerCase();
  chooseBranch(branch, 'live');
}

/** The filter asked for by another view; given once. */
export function takeFilterRequest(): string {
  const text = request;
  request = '';
  return text;
}
