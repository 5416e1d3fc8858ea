import { createMiddleware } from 'hono/factory';
import type { HttpEnvironment } from '../environment.ts';

const commonHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
};

/** No browser frames an answer, guesses its kind, or tells others its address, which may hold a token. */
export const setSecurityHeaders = createMiddleware<HttpEnvironment>(async (c, next) => {
  // Set before there is an answer: setting them on a finished one copies the whole answer.
  for (const [name, value] of Object.entries(commonHeaders)) c.header(name, value);
  c.header('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  await next();
});

/** The page at /docs keeps a key and sends it: it runs its own script alone, speaks with its own origin alone, and nobody frames it. */
export const docsPageHeaders: Record<string, string> = {
  ...commonHeaders,
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
};
