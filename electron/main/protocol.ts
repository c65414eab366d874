import { protocol } from 'electron';
import { contentSecurityPolicy } from '../../shared/csp.ts';
import { readAsset } from '../local/assets.ts';
import type { Asset } from '../local/assets.ts';
import { appOrigin } from './app-page.ts';
import { serveSchemeOld } from './old-shell.ts';

export const pageHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': contentSecurityPolicy([]),
  'x-content-type-options': 'nosniff',
} as const;

/** Must run before the app is ready. */
export function declareScheme(): void {
  protocol.registerSchemesAsPrivileged([{ scheme: 'app', privileges: { standard: true, secure: true } }]);
}

/** Serves the built app in `root` and nothing else. */
export function serveScheme(root: string): void {
  const answer = async (url: string): Promise<Asset | undefined> => {
    const { protocol: scheme, host, pathname } = new URL(url);
    return `${scheme}//${host}` === appOrigin ? readAsset(root, pathname) : undefined;
  };
  if (serveSchemeOld(answer)) return;
  protocol.handle('app', async (request) => {
    const asset = await answer(request.url);
    if (asset === undefined) return new Response('There is nothing here.', { status: 404 });
    return new Response(new Uint8Array(asset.bytes), { headers: { ...pageHeaders, 'content-type': asset.type } });
  });
}
