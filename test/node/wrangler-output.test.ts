import { expect, test } from 'vitest';
import { isError, WranglerOutput } from '../../scripts/local/wrangler-output.ts';

function shownOf(text: string): string[] {
  const output = new WranglerOutput();
  return text.split('\n').flatMap((line) => output.filter(line) ?? []);
}

test('what wrangler says of itself at start and at each request is not shown', () => {
  const shown = shownOf(`
 ⛅️ wrangler 4.156.2 (update available 4.164.0)
───────────────────────────────────────────────
Using secrets defined in .dev.vars
Attaching additional modules:
┌──────────────────┬──────┬─────────────┐
│ Name             │ Type │ Size        │
├──────────────────┼──────┼─────────────┤
│ Total (1 module) │      │ 5670.73 KiB │
└──────────────────┴──────┴─────────────┘
Your Worker has access to the following bindings:
Binding                                         Resource                  Mode
env.DB (voice-agents)                           D1 Database               local
env.SIGNUP ("(hidden)")                         Environment Variable      local

⎔ Starting local server...
[wrangler:info] Ready on http://127.0.0.1:8787
[wrangler:info] GET /api/v1/health 200 OK (19ms)
\u001B[33m▲ \u001B[43;33m[\u001B[43;30mWARNING\u001B[43;33m]\u001B[0m \u001B[1mScheduled Workers are not automatically triggered during local development.\u001B[0m

  To manually trigger a scheduled event, run:
    curl "http://127.0.0.1:8787/cdn-cgi/local/scheduled"

\u001B[33m▲ \u001B[43;33m[\u001B[43;30mWARNING\u001B[43;33m]\u001B[0m \u001B[1mVectorize Index bindings do not support local development, and so parts of your Worker may not work correctly. You can set \`remote: true\` for the binding definition in your configuration file to access a remote version of the resource.\u001B[0m

(node:12) [DEP0040] DeprecationWarning: The punycode module is deprecated.
⎔ Reloading local server...`);
  expect(shown).toEqual([]);
});

test('log lines of the service are shown as they are, also right after a needless warning', () => {
  const line = '{"at":"2026-11-02T10:00:00.000Z","level":"info","message":"event accepted"}';
  expect(
    shownOf(
      `▲ [WARNING] Unable to fetch the \`Request.cf\` object! Falling back to a default placeholder...\n  The cause\n${line}\n  indented after it`,
    ),
  ).toEqual([line, '  indented after it']);
});

test('errors and other warnings are shown whole', () => {
  const trouble = [
    '✘ [ERROR] Uncaught Error: boom',
    '    at handler (src/worker.ts:3:9)',
    '▲ [WARNING] Processing wrangler.toml configuration:',
    '    - Unexpected fields found',
    '[wrangler:warn] The Workers runtime crashed unexpectedly and is being restarted (crash #1).',
  ];
  expect(shownOf(trouble.join('\n'))).toEqual(trouble);
});

test('an error is distinguished from a log line that mentions one', () => {
  expect(isError('✘ [ERROR] Build failed with 1 error:')).toBe(true);
  expect(isError('{"level":"error","message":"✘ [ERROR]"}')).toBe(false);
});
