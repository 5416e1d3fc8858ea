import type { Context as HonoContext } from 'hono';
import { notFound } from '../../library/errors.ts';
import type { HttpEnvironment } from '../environment.ts';
import { docsPageHeaders } from '../middleware/security-headers.ts';

/** A file of the page at /docs. Throws 404. */
export async function serveAsset(c: HonoContext<HttpEnvironment>): Promise<Response> {
  const file = await c.env.ASSETS.fetch(c.req.raw);
  if (file.status === 404) {
    await file.body?.cancel();
    throw notFound('Page');
  }
  const answer = new Response(file.body, file);
  for (const [name, value] of Object.entries(docsPageHeaders)) answer.headers.set(name, value);
  return answer;
}
