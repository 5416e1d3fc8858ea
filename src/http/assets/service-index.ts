import type { Context as HonoContext } from 'hono';
import packageFile from '../../../package.json' with { type: 'json' };
import type { HttpEnvironment } from '../environment.ts';
import { apiOrigin, apiUrl } from '../public-url.ts';

/** What the service's bare address leads to: people to the documentation, programs to a list of what is here. */
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
