import { defineConfig } from '@playwright/test';

/** The app as a person uses it: once in Chromium, once in a real Electron window (under Xvfb where there is no display). */
export default defineConfig({
  testDir: 'test/e2e',
  outputDir: 'test-results',
  // Limits of what never comes: a busy machine takes many times what a quiet one does.
  timeout: 360_000,
  expect: { timeout: 60_000 },
  // Each test has engine, data and display of its own and mostly waits for them.
  workers: 2,
  forbidOnly: true,
  reporter: 'list',
  projects: [
    { name: 'browser', testIgnore: '**/*.electron.spec.ts' },
    { name: 'electron', testIgnore: '**/*.browser.spec.ts' },
  ],
});
