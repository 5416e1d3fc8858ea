import { createMiddleware } from 'hono/factory';
import { invalidAt } from '../../library/errors.ts';
import type { HttpEnvironment } from '../environment.ts';

/**
 * Invalid percent encodings stay as they are, so only NUL is left to clean. In a query NUL is removed, as in a body; in a path, where the
 * result would name another record, NUL is refused.
 */
export const cleanUrl = createMiddleware<HttpEnvironment>(async (c, next) => {
  const { url } = c.req;
  if (!url.includes('%00')) return next();
  const [path, query] = [url.split('?', 1)[0]!, url.slice(url.indexOf('?'))];
  if (path.includes('%00')) throw invalidAt(['path'], 'Contains a NUL character (%00), which nothing is named with; leave it out', 'nul');
  c.req.raw = new Request(path + query.replaceAll('%00', ''), c.req.raw);
  return next();
});
