import type { Context as HonoContext } from 'hono';
import type { HttpEnvironment } from '../../http/environment.ts';
import { badRequest } from '../../library/errors.ts';

/** The caller's session. Throws 400 for an API key, which has none. */
export function requireSession(c: HonoContext<HttpEnvironment>): { token: string; userId: number } {
  const { session, caller } = c.var;
  if (!session) throw badRequest('This call needs a session, not an API key; log in first');
  return { token: session.token, userId: caller.userId };
}
