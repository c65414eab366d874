import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What asking for a newer release came to. */
export type UpdateAnswer =
  /** The package was made without an address to ask at, or this is no package. */
  | { readonly kind: 'nowhere' }
  | { readonly kind: 'newest' }
  /** `file` is where its installer is; nothing has been loaded. */
  | { readonly kind: 'newer'; readonly version: string; readonly file: string }
  | { readonly kind: 'failed'; readonly reason: string };

interface Surroundings {
  /** The package's resources, where electron-builder puts `app-update.yml`; undefined where the app is not packaged. */
  readonly resources: string | undefined;
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  /** The version that asks. */
  readonly version: string;
  readonly fetch: (url: string) => Promise<{ ok: boolean; status: number; text: () => Promise<string> }>;
}

/** Asks the package's update channel which release is the newest. Loads that one text and nothing else. Never throws. */
export async function askForUpdate(around: Surroundings): Promise<UpdateAnswer> {
  const base = channelOf(around.resources);
  if (base === undefined) return { kind: 'nowhere' };
  try {
    const answer = await around.fetch(new URL(fileOf(around.platform, around.arch), base).href);
    if (!answer.ok) return { kind: 'failed', reason: `It answered with status ${String(answer.status)}.` };
    const text = await answer.text();
    const [version, path] = [entryOf(text, 'version'), entryOf(text, 'path')];
    const file = path === undefined ? undefined : new URL(path, base);
    if (version === undefined || !/^\d+\.\d+\.\d+(-[\w.-]+)?$/.test(version) || file?.origin !== base.origin)
      return { kind: 'failed', reason: 'Its answer names no release.' };
    return isNewer(version, around.version) ? { kind: 'newer', version, file: file.href } : { kind: 'newest' };
  } catch (error) {
    return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** The folder that releases are served from, by TLS alone: what it says is offered to be opened. */
function channelOf(resources: string | undefined): URL | undefined {
  if (resources === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(join(resources, 'app-update.yml'), 'utf8');
  } catch {
    return undefined;
  }
  const url = entryOf(text, 'url');
  if (entryOf(text, 'provider') !== 'generic' || url === undefined || !URL.canParse(url)) return undefined;
  const base = new URL(url.endsWith('/') ? url : `${url}/`);
  return base.protocol === 'https:' ? base : undefined;
}

/** As electron-builder names the description of the newest release. */
function fileOf(platform: NodeJS.Platform, arch: string): string {
  if (platform === 'darwin') return 'latest-mac.yml';
  if (platform === 'win32') return 'latest.yml';
  return arch === 'x64' ? 'latest-linux.yml' : `latest-linux-${arch}.yml`;
}

/** A plain entry at the top of one of electron-builder's YAML files. */
function entryOf(yaml: string, name: string): string | undefined {
  return new RegExp(`^${name}:[ \\t]*(['"]?)(.+?)\\1[ \\t]*\\r?$`, 'm').exec(yaml)?.[2];
}

/** By the three numbers; a preview of a release comes before it. */
function isNewer(version: string, than: string): boolean {
  const parts = (text: string): number[] => {
    const [core = '', preview] = text.split(/-(.*)/s);
    return [...core.split('.').map(Number), preview === undefined ? 1 : 0];
  };
  const [one, other] = [parts(version), parts(than)];
  const at = one.findIndex((part, index) => part !== other[index]);
  return at >= 0 && (one[at] ?? 0) > (other[at] ?? 0);
}
