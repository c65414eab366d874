import { branchName } from '../../shared/branch-name.ts';

export const deepLinkScheme = 'forkyard';

/** Exactly this and nothing around it: no port, no user, no query, no further path, nothing encoded. */
const shape = /^forkyard:\/\/branch\/([^/?#%\\]+)\/?$/i;

/**
 * The branch that a link `forkyard://branch/NAME` names; undefined for everything else. Any web page and any mail can hold
 * such a link, so that it can do no more than show a branch.
 */
export function parseDeepLink(link: string): string | undefined {
  const name = shape.exec(link)?.[1];
  return name !== undefined && branchName.test(name) ? name : undefined;
}

/** The argument that is a link, of those that the system started the app with; parsed or not. */
export function linkAmong(argv: readonly string[]): string | undefined {
  return argv.find((word) => word.toLowerCase().startsWith(`${deepLinkScheme}:`));
}
