/** Apple's keyboards name their keys by signs, all others by words. */
export const isApple = /Mac|iPhone|iPad/.test(navigator.platform);
/** In a browser's tab some shortcuts belong to the browser (a new window is Ctrl+N) and cannot be taken. */
export const isDesktop = window.forkyard !== undefined;

/**
 * A shortcut as written in a command: `mod+n`, `mod+shift+c`, `alt+n`, `x`, `shift+n`. `mod` is the command key on Apple's
 * keyboards and Ctrl elsewhere.
 */
export type Shortcut = string;

/** `⌘N`, or `Ctrl+N`. */
export function shortcutText(shortcut: Shortcut): string {
  const parts = shortcut.split('+').map((part) => keyName(part));
  return parts.join(isApple ? '' : '+');
}

function keyName(part: string): string {
  const apple: Record<string, string> = { mod: '⌘', shift: '⇧', alt: '⌥', enter: '↩' };
  const others: Record<string, string> = { mod: 'Ctrl', shift: 'Shift', alt: 'Alt', enter: '↩' };
  const named = (isApple ? apple : others)[part];
  if (named !== undefined) return named;
  return part === 'space' ? 'Space' : part.toUpperCase();
}

export function matches(event: KeyboardEvent, shortcut: Shortcut): boolean {
  const parts = shortcut.split('+');
  const key = parts[parts.length - 1] ?? '';
  const mod = isApple ? event.metaKey : event.ctrlKey;
  const otherMod = isApple ? event.ctrlKey : event.metaKey;
  if (mod !== parts.includes('mod') || otherMod) return false;
  if (event.altKey !== parts.includes('alt')) return false;
  // Signs such as `[` or `?` may need Shift to be typed at all.
  const isSign = key.length === 1 && !/[a-z0-9]/.test(key);
  if (!isSign && event.shiftKey !== parts.includes('shift')) return false;
  return pressedKey(event) === key;
}

function pressedKey(event: KeyboardEvent): string {
  // With Alt held, `key` is a composed character on Apple's keyboards: the place of the key decides.
  if (event.altKey && event.code.startsWith('Key')) return event.code.slice(3).toLowerCase();
  if (event.key === ' ') return 'space';
  return event.key.toLowerCase();
}

/** True while a text field has the keyboard: single letters belong to it. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input:not([type=checkbox], [type=radio]), textarea, select');
}
