import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A process as the operating system knows it: its pid alone may be another's by now, with its start time it may not. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque text that differs between two processes that had the same pid. */
  readonly startTime: string;
}

/**
 * The start time of a living process, or undefined where there is none. A zombie counts as none once its last thread has
 * gone: until then it still holds its files and their locks.
 */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
    if (stat === undefined) return undefined;
    // The command name in parentheses may hold spaces; the fields after it do not. Field 3 is the state, 20 the number of
    // threads, 22 the start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' && Number(fields[17]) <= 1 ? undefined : fields[19];
  }
  if (process.platform === 'win32') {
    const script = `(Get-Process -Id ${pid}).StartTime.Ticks`;
    const result = await run('powershell', ['-NoProfile', '-Command', script]).catch(() => undefined);
    return result?.stdout.trim() || undefined;
  }
  const result = await run('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => undefined);
  return result?.stdout.trim() || undefined;
}

export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  return (await startTimeOf(identity.pid)) === identity.startTime;
}

/**
 * Living servers whose data folder lies in `root`, whoever started them: what a killed engine left behind.
 * Recognised as a mongod by the `--dbpath` it was started with, never by pid alone.
 */
export async function serversUnder(root: string): Promise<LeftServer[]> {
  const found: LeftServer[] = [];
  for (const { pid, args } of await processes()) {
    const dbPath = flag(args, '--dbpath');
    const port = Number(flag(args, '--port'));
    // A shell, an editor or a search may name the folder too.
    if (!/mongod[^/\\]*$/.test(args[0] ?? '')) continue;
    if (dbPath === undefined || !(dbPath.startsWith(`${root}/`) || dbPath.startsWith(`${root}\\`))) continue;
    const startTime = await startTimeOf(pid);
    if (startTime !== undefined) found.push({ pid, startTime, dbPath, port });
  }
  return found;
}

/** A server that an engine before this one started. */
export interface LeftServer extends ProcessIdentity {
  readonly dbPath: string;
  readonly port: number;
}

function flag(args: readonly string[], name: string): string | undefined {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args[at + 1];
}

async function processes(): Promise<{ pid: number; args: string[] }[]> {
  if (process.platform === 'linux') {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const read = async (pid: string) => {
      const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return { pid: Number(pid), args: text.split('\0') };
    };
    return Promise.all(pids.map(read));
  }
  if (process.platform === 'win32') {
    const script = `Get-CimInstance Win32_Process -Filter "Name='mongod.exe'" | ForEach-Object { "$($_.ProcessId)\`t$($_.CommandLine)" }`;
    const { stdout } = await run('powershell', ['-NoProfile', '-Command', script]);
    return stdout.split(/\r?\n/).flatMap((line) => {
      const [pid, command = ''] = line.split('\t');
      return pid ? [{ pid: Number(pid), args: splitCommandLine(command) }] : [];
    });
  }
  const { stdout } = await run('ps', ['-axww', '-o', 'pid=,command='], { maxBuffer: 1 << 26 });
  return stdout.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(.*)$/.exec(line);
    if (!match?.[2]?.includes('--dbpath')) return [];
    // A folder with spaces is not quoted here: take what stands between --dbpath and the flag that follows it.
    const [, dbPath, port] = /--dbpath (.*?) --port (\d+)/.exec(match[2]) ?? [];
    if (dbPath === undefined || port === undefined) return [];
    const program = match[2].slice(0, match[2].indexOf(' --'));
    return [{ pid: Number(match[1]), args: [program, '--dbpath', dbPath, '--port', port] }];
  });
}

function splitCommandLine(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
}

/** Resolves once the process is gone; `false` when it still lives after `timeoutMs`. */
export async function waitForExit(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (await isAlive(identity)) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return true;
}
