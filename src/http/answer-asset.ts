import type { Context as HonoContext } from 'hono';
import { notFound } from '../library/errors.ts';
import type { HttpEnvironment } from './environment.ts';

/** A file of the page at /docs. Throws 404. */
export async function answerAsset(c: HonoContext<HttpEnvironment>): Promise<Response> {
  const answer = await c.env.ASSETS.fetch(c.req.raw);
  if (answer.status !== 404) return answer;
  await answer.body?.cancel();
  throw notFound('Page');
}
