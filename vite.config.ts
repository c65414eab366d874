import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/**
 * Builds the renderer. Relative addresses, so that the same files work from `app://` and from the loopback web; nothing is
 * inlined into the page, so that a strict content security policy holds.
 */
export default defineConfig({
  root: 'renderer',
  base: './',
  plugins: [react()],
  build: {
    outDir: '../dist/renderer',
    emptyOutDir: true,
    sourcemap: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // One file read from the disk of the same machine: splitting it saves nothing.
    chunkSizeWarningLimit: 1_000,
  },
});
