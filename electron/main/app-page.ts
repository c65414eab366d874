/** The app's own pages: `app://forkyard/…`. A scheme of its own has an origin, which files do not. */
export const appOrigin = 'app://forkyard';

/** Whether an address is one of the app's own pages. */
export function isAppPage(url: string): boolean {
  return url.startsWith(`${appOrigin}/`);
}
