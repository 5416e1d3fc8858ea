import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// The Worker serves what is built beside the page at /docs.
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: '../public/console',
    emptyOutDir: true,
    target: 'es2023',
    // The policy of the pages takes no script or picture from the page itself.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
