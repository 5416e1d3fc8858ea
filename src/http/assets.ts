import type { Context as HonoContext } from 'hono';
import packageFile from '../../package.json' with { type: 'json' };
import { notFound } from '../library/errors.ts';
import type { HttpEnvironment } from './environment.ts';
import { consoleHeaders, docsPageHeaders } from './middleware/security-headers.ts';
import { apiOrigin, apiUrl } from './public-url.ts';

/** Whether a browser asks for a page. */
export const wantsPage = (c: HonoContext<HttpEnvironment>): boolean =>
  (c.req.method === 'GET' || c.req.method === 'HEAD') && /\btext\/html\b/i.test(c.req.header('accept') ?? '');

/** Answers the service's bare address: browsers get the console, programs a list of addresses. */
export async function serveServiceIndex(c: HonoContext<HttpEnvironment>): Promise<Response> {
  c.header('Vary', 'Accept');
  if (wantsPage(c)) return serveConsole(c);
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

/** The page of the console, which shows what its address names. A service without it goes to the documentation. */
export async function serveConsole(c: HonoContext<HttpEnvironment>): Promise<Response> {
  const page = await c.env.ASSETS.fetch(new Request(new URL('/console/', c.req.url), { method: c.req.method }));
  if (!page.ok) {
    await page.body?.cancel();
    return c.redirect('/docs/', 302);
  }
  return withHeaders(page, { ...consoleHeaders, 'Cache-Control': 'no-cache', Vary: 'Accept' });
}

/** A file of the console, whose name changes with what is in it. Throws 404. */
export async function serveConsoleFile(c: HonoContext<HttpEnvironment>): Promise<Response> {
  const file = await fetchAsset(c);
  return withHeaders(file, { ...consoleHeaders, 'Cache-Control': 'public, max-age=31536000, immutable' });
}

/** A file of the page at /docs. Throws 404. */
export const serveAsset = async (c: HonoContext<HttpEnvironment>): Promise<Response> => withHeaders(await fetchAsset(c), docsPageHeaders);

async function fetchAsset(c: HonoContext<HttpEnvironment>): Promise<Response> {
  const file = await c.env.ASSETS.fetch(c.req.raw);
  if (file.status === 404) {
    await file.body?.cancel();
    throw notFound('Page');
  }
  return file;
}

function withHeaders(file: Response, headers: Record<string, string>): Response {
  const answer = new Response(file.body, file);
  for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
  return answer;
}
