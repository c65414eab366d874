import { promises as fs } from 'node:fs';
import type { RequestOptions } from 'node:https';
import path from 'node:path';
import { executable } from './cache.ts';
import type { Fetch, FetchOptions } from './fetch.ts';

/**
 * Downloads MongoDB's official build for this system: the archive's address, its MD5 check and its unpacking are
 * mongodb-memory-server's (so `MONGOMS_VERSION`, `MONGOMS_DOWNLOAD_MIRROR` and its proxy settings work), the version is
 * the one that release knows for every platform. What differs: certificates are checked whatever npm's configuration
 * says, the host has `connectTimeoutMs` until its first byte (behind a wall it never answers, and the next way should be
 * tried), and progress goes to the caller, never to stdout.
 */
export const fetchOfficialWithin =
  (connectTimeoutMs: number): Fetch =>
  async (folder, options) => {
    const { MongoBinaryDownload } = await import('mongodb-memory-server-core/lib/util/MongoBinaryDownload.js');
    const { DryMongoBinary } = await import('mongodb-memory-server-core/lib/util/DryMongoBinary.js');

    class Download extends MongoBinaryDownload {
      #connected: () => void = () => undefined;

      override async httpDownload(url: URL, request: RequestOptions, file: string, partial: string): Promise<string> {
        const connecting = deadline(connectTimeoutMs, options.signal);
        this.#connected = connecting.clear;
        try {
          const strict = { ...request, rejectUnauthorized: true, signal: connecting.signal };
          return await super.httpDownload(url, strict, file, partial, 1);
        } catch (error) {
          if (!connecting.passed()) throw error;
          throw new Error(`${url.host} did not answer within ${connectTimeoutMs / 1000} s`, { cause: error });
        } finally {
          connecting.clear();
        }
      }

      override printDownloadProgress(chunk: { length: number }): void {
        this.#connected();
        this.dlProgress.current += chunk.length;
        report(options, this.binaryOpts.version, this.dlProgress.current, this.dlProgress.length);
      }
    }

    const system = await DryMongoBinary.generateOptions({ version: '' });
    const download = new Download({ ...system, downloadDir: folder, checkMD5: true });
    options.onProgress({ text: `Connecting to MongoDB's download server for MongoDB ${download.binaryOpts.version}` });
    const server = await download.getMongodPath();
    await fs.rename(server, path.join(folder, executable));
    await fs.rm(`${server}.md5`, { force: true });
  };

function report({ onProgress }: FetchOptions, version: string, done: number, total: number): void {
  // The checksum's few bytes are no progress worth a line.
  if (total > 1_000_000) onProgress({ text: `Downloading MongoDB ${version}`, done, total });
}

/** A signal that fires with `outer`, and by itself when the deadline passes before it is cleared. */
function deadline(
  afterMs: number,
  outer: AbortSignal | undefined,
): { signal: AbortSignal; clear: () => void; passed: () => boolean } {
  const controller = new AbortController();
  const onAbort = () => controller.abort(outer?.reason);
  let passed = false;
  const timer = setTimeout(() => {
    passed = true;
    controller.abort(new Error('connecting took too long'));
  }, afterMs);
  if (outer?.aborted) onAbort();
  outer?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    clear: () => clearTimeout(timer),
    passed: () => passed,
  };
}
