import type { Context as HonoContext } from 'hono';
import packageFile from '../../package.json' with { type: 'json' };
import { notFound } from '../library/errors.ts';
import type { HttpEnvironment } from './environment.ts';
import { docsPageHeaders } from './middleware/security-headers.ts';
import { apiOrigin, apiUrl } from './public-url.ts';

/** Answers the service's bare address: browsers go to the documentation, programs get a list of addresses. */
export function serveServiceIndex(c: HonoContext<HttpEnvironment>): Response {
  c.header('Vary', 'Accept');
  if (/\btext\/html\b/i.test(c.req.header('accept') ?? '')) return c.redirect('/docs/', 302);
  const origin = apiOrigin(c);
  const api = apiUrl(c);
  return c.json({
    service: 'Voice Agent Automation Service',
    version: packageFile.version,
    api,
    health: `${api}/health`,
    openapi: `${api}/openapi.json`,
    docs: `${origin}/docs/`,
    mcp: `${origin}/mcp`,
  });
}

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
