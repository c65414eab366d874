import { spawnSync } from 'node:child_process';

/** Whether the place that Electron is downloaded from answers within five seconds; the download itself may take its time. */
export function canReachElectron() {
  const url = process.env.ELECTRON_MIRROR ?? 'https://github.com/electron/electron/releases';
  const probe = `fetch(${JSON.stringify(url)}, { method: 'HEAD', signal: AbortSignal.timeout(5000) }).then(() => process.exit(0), () => process.exit(1))`;
  return spawnSync(process.execPath, ['-e', probe], { stdio: 'ignore', timeout: 10_000 }).status === 0;
}
