import { createMiddleware } from 'hono/factory';
import type { HttpEnvironment } from '../environment.ts';

const commonHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
};

/** No browser frames an answer, guesses its content type, or sends its address, which may contain a token, to others. */
export const setSecurityHeaders = createMiddleware<HttpEnvironment>(async (c, next) => {
  // Set before the handler answers: setting headers on a finished answer copies the whole answer.
  for (const [name, value] of Object.entries(commonHeaders)) c.header(name, value);
  c.header('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  await next();
});

/**
 * The console acts for whoever is signed in. So it runs only its own scripts, calls only its own origin, and cannot be framed. Its components
 * set styles of their own.
 */
export const consoleHeaders: Record<string, string> = {
  ...commonHeaders,
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
};

/**
 * The page at /docs keeps an API key and sends it. So the page runs only its own script, calls only its own origin, and cannot be framed.
 */
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
