import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const kilobytesOfMegabyte = 1_024;

/** Resident memory of a process, MB of 2^20 bytes. */
export function residentMB(pid: number): number {
  if (process.platform === 'linux') return statusMB(pid, 'VmRSS');
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / kilobytesOfMegabyte;
}

/** Whether {@link peakMB} works here. */
export const knowsPeak = process.platform === 'linux';

/** Lets {@link peakMB} begin anew. Linux only. */
export function resetPeak(pid: number): void {
  // 5 resets the peak of resident memory: proc_pid_clear_refs(5).
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** The most resident memory since {@link resetPeak}, MB. Linux only. */
export function peakMB(pid: number): number {
  return statusMB(pid, 'VmHWM');
}

/** Child processes of a process whose command line names `program`. */
export function childrenOf(pid: number, program: string): number[] {
  const table = execFileSync('ps', ['-axww', '-o', 'pid=,ppid=,command='], { encoding: 'utf8', maxBuffer: 1 << 26 });
  return table.split('\n').flatMap((line) => {
    const [, child, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(parent) === pid && command?.includes(program) ? [Number(child)] : [];
  });
}

function statusMB(pid: number, name: string): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) / kilobytesOfMegabyte;
}
