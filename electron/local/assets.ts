import { readFile, realpath } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';

/** A file of the app as a browser gets it. */
export interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

/**
 * The file that a URL's path names under `root`; a folder's `index.html` where it ends in a slash. Undefined where there
 * is none, where it is of no kind the app has, and where the path leads out of `root`, by dots, encodings or links.
 */
export async function readAsset(root: string, urlPath: string): Promise<Asset | undefined> {
  const path = decode(urlPath);
  const type = types[extname(path)];
  if (type === undefined || path.includes('\0')) return undefined;
  try {
    const folder = await realpath(root);
    const file = await realpath(join(folder, path));
    if (!file.startsWith(folder + sep)) return undefined;
    return { type, bytes: await readFile(file) };
  } catch {
    return undefined;
  }
}

function decode(urlPath: string): string {
  try {
    const path = decodeURIComponent(urlPath);
    return path.endsWith('/') ? `${path}index.html` : path;
  } catch {
    return '';
  }
}
