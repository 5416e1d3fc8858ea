import type { Plugin } from 'esbuild';

/** Zod brings its messages in fifty languages, of which the service speaks one. */
export const onlyEnglish: Plugin = {
  name: 'only-english',
  setup: (build) => {
    build.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
      loader: 'js',
    }));
  },
};
