import { chromium, type Browser } from '@playwright/test';

/** The size of the app's window. */
export const viewport = { width: 1280, height: 800 };

/** The machine's Chromium, or the one that FORKYARD_CHROMIUM names. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env['FORKYARD_CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'],
  });
}
