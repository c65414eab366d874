import { spawn } from 'node:child_process';
import { promises as fs } from 'node:fs';
import path from 'node:path';

/** The oldest server whose change streams carry pre-images and expanded events. */
export const minimumVersion = '6.0.0';

/** What running `mongod --version` told. A failure's `cause` is a clause that continues "… but it ". */
export type Probe =
  | { readonly ok: true; readonly version: string }
  | { readonly ok: false; readonly cause: string; readonly hint?: string };

/**
 * Runs `FILE --version` and reads the version, e.g. `6.0.5`. Answers within {@link probeTimeoutMs}; a binary that cannot
 * run is told from its exit code, signal and loader message, so that nobody waits for a server that will never listen.
 */
export async function probe(file: string): Promise<Probe> {
  for (let attempt = 1; ; attempt++) {
    const run = await runVersion(file);
    // A child of another thread can hold the freshly written file open between its fork and its exec.
    if (run.errno === 'ETXTBSY' && attempt < 20) {
      await new Promise((resolve) => setTimeout(resolve, 10 * attempt));
      continue;
    }
    const version = /db version v(\d+\.\d+\.\d+)/.exec(run.output)?.[1];
    return run.code === 0 && version !== undefined ? { ok: true, version } : { ok: false, ...explain(run) };
  }
}

/**
 * {@link probe}, remembered in `memoryFile` by path, size and modification time, so that a start costs one `stat`.
 * Only successes are kept: what made a binary fail may be repaired without touching it.
 */
export async function probeRemembered(file: string, memoryFile: string): Promise<Probe> {
  const stat = await fs.stat(file).catch(() => undefined);
  if (!stat) return { ok: false, cause: 'does not exist' };
  if (!stat.isFile()) return { ok: false, cause: 'is not a file' };
  const known = await readMemory(memoryFile);
  const entry = known[file];
  if (entry && entry.size === stat.size && entry.mtimeMs === stat.mtimeMs) return { ok: true, version: entry.version };
  const result = await probe(file);
  if (result.ok) {
    const next = { ...known, [file]: { size: stat.size, mtimeMs: stat.mtimeMs, version: result.version } };
    await writeMemory(memoryFile, next);
  }
  return result;
}

/** Negative where `a` is older than `b`; both `major.minor.patch`. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (left?.[i] ?? 0) - (right?.[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

const probeTimeoutMs = 10_000;

interface Run {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly errno?: string;
  readonly output: string;
}

function runVersion(file: string): Promise<Run> {
  return new Promise((resolve) => {
    const child = spawn(file, ['--version'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, LC_ALL: 'C' },
      timeout: probeTimeoutMs,
      killSignal: 'SIGKILL',
      windowsHide: true,
    });
    let output = '';
    const collect = (chunk: Buffer) => {
      if (output.length < 16_384) output += chunk.toString('utf8');
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error: NodeJS.ErrnoException) =>
      resolve({ code: null, signal: null, errno: error.code ?? error.message, output }),
    );
    child.on('close', (code, signal) => resolve({ code, signal, output }));
  });
}

/** Debian's package for each library that the server's builds link against. */
const libraryPackages: Readonly<Record<string, string>> = {
  'libcurl.so.4': 'libcurl4',
  'libssl.so.3': 'libssl3',
  'libcrypto.so.3': 'libssl3',
  'libssl.so.1.1': 'libssl1.1',
  'libcrypto.so.1.1': 'libssl1.1',
  'liblzma.so.5': 'liblzma5',
  'libsasl2.so.2': 'libsasl2-2',
};

/** 0xC0000135: Windows could not find a DLL, which for this server is the Visual C++ runtime. */
const windowsDllMissing = 3_221_225_781;
/** 0xC000001D: the Windows form of SIGILL. */
const windowsIllegalInstruction = 3_221_225_501;

function explain(run: Run): { cause: string; hint?: string } {
  if (run.errno === 'ENOENT') return { cause: 'does not exist, or the loader it names does not' };
  if (run.errno === 'EACCES') return { cause: 'may not be executed', hint: 'Make it executable: chmod +x.' };
  if (run.errno === 'ENOEXEC' || run.errno === 'UNKNOWN' || run.errno === 'EBADARCH') {
    return { cause: 'is not a program for this machine', hint: `This machine is ${process.platform} ${process.arch}.` };
  }
  if (run.errno !== undefined) return { cause: `could not be started (${run.errno})` };
  // A shell that ran the server reports its signal as 128 + 4.
  if (run.signal === 'SIGILL' || run.code === 132 || run.code === windowsIllegalInstruction) {
    return {
      cause: 'stopped at an instruction this processor does not have',
      hint: 'MongoDB 5.0 and newer need a processor with AVX; in a virtual machine, let the host pass its CPU through.',
    };
  }
  if (run.code === windowsDllMissing) {
    return {
      cause: 'lacks the Visual C++ runtime',
      hint: 'Install the Microsoft Visual C++ Redistributable (x64) and try again.',
    };
  }
  const library = /loading shared libraries: ([^\s:]+)/.exec(run.output)?.[1];
  if (library !== undefined) {
    const packageName = libraryPackages[library];
    return {
      cause: `lacks the library ${library}`,
      hint: packageName
        ? `Install it: apt-get install -y ${packageName}`
        : `Install the package that brings ${library} and try again.`,
    };
  }
  const libc = /version [`'](GLIBC\S*)' not found/.exec(run.output)?.[1];
  if (libc !== undefined) return { cause: `was built for a newer system (it needs ${libc})` };
  if (run.signal === 'SIGKILL') return { cause: `did not answer --version within ${probeTimeoutMs / 1000} s` };
  if (run.signal !== null) return { cause: `was ended by ${run.signal}` };
  if (run.code === 0) return { cause: 'does not answer --version as a mongod does' };
  const firstLine = run.output.trim().split('\n')[0]?.slice(0, 200);
  return { cause: `ended with exit code ${String(run.code)}${firstLine ? `: ${firstLine}` : ''}` };
}

type Memory = Record<string, { size: number; mtimeMs: number; version: string }>;

async function readMemory(file: string): Promise<Memory> {
  try {
    const parsed: unknown = JSON.parse(await fs.readFile(file, 'utf8'));
    return typeof parsed === 'object' && parsed !== null ? (parsed as Memory) : {};
  } catch {
    // Absent or torn: it is only a memory of what --version says.
    return {};
  }
}

async function writeMemory(file: string, memory: Memory): Promise<void> {
  const temporary = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  try {
    await fs.mkdir(path.dirname(file), { recursive: true });
    await fs.writeFile(temporary, JSON.stringify(memory));
    await fs.rename(temporary, file);
  } catch {
    // A read-only cache costs one --version at each start, nothing else.
    await fs.rm(temporary, { force: true }).catch(() => undefined);
  }
}
