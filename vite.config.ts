import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/**
 * Builds the renderer into `dist/renderer`. Relative addresses, so that the same files work from `app://` and from the
 * loopback web; nothing is inlined into the page, so that a strict content security policy holds.
 * Vitest reads this file too and keeps the repository's root.
 */
export default defineConfig(({ mode }) => ({
  root: mode === 'test' ? '.' : 'renderer',
  base: './',
  plugins: [react()],
  build: {
    outDir: '../dist/renderer',
    emptyOutDir: true,
    sourcemap: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
}));
