import { defineConfig } from '@playwright/test';

/** `npm run screenshots`: the pictures of the README and the documentation, made anew from the real app. */
export default defineConfig({
  testDir: 'test/screenshots',
  outputDir: 'test-results',
  timeout: 420_000,
  workers: 1,
  reporter: 'list',
  projects: [{ name: 'browser' }],
});
