import { defineConfig } from '@playwright/test';

/** The app as a person uses it: once in Chromium, once in a real Electron window (under Xvfb where there is no display). */
export default defineConfig({
  testDir: 'test/e2e',
  outputDir: 'test-results',
  timeout: 120_000,
  expect: { timeout: 15_000 },
  workers: 1,
  forbidOnly: true,
  reporter: 'list',
  projects: [
    { name: 'browser', testIgnore: '**/*.electron.spec.ts' },
    { name: 'electron', testIgnore: '**/*.browser.spec.ts' },
  ],
});
