/** What Electron 22, in which the tests run where a current one cannot be had, does differently. Delete it with that shell. */
import { protocol } from 'electron';
import type { Asset } from '../local/assets.ts';
import { pageHeaders } from './protocol.ts';

/** The interface that `protocol.handle` (Electron 25) replaced; false where that one is there. */
export function serveSchemeOld(answer: (url: string) => Promise<Asset | undefined>): boolean {
  if ('handle' in protocol) return false;
  const old = protocol as {
    registerBufferProtocol(
      scheme: string,
      handler: (request: { url: string }, reply: (answer: object) => void) => void,
    ): void;
  };
  old.registerBufferProtocol('app', (request, reply) => {
    void answer(request.url).then((asset) =>
      reply(
        asset === undefined
          ? { statusCode: 404, mimeType: 'text/plain', data: Buffer.from('There is nothing here.') }
          : { mimeType: asset.type.split(';')[0], charset: 'utf-8', headers: pageHeaders, data: asset.bytes },
      ),
    );
  });
  return true;
}
