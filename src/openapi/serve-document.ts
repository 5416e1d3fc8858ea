import type { Context as HonoContext } from 'hono';
import type { HttpEnvironment } from '../http/environment.ts';
import { apiOrigin } from '../http/public-url.ts';

/** The path of the copy of openapi.json among the assets. */
const assetPath = '/docs/openapi.json';

/** Answers openapi.json, with this deployment as its server. The file is read once. */
export function serveDocument() {
  let kept: Promise<{ before: string; after: string }> | undefined;
  return async (c: HonoContext<HttpEnvironment>) => {
    kept ??= readDocument(c).catch((error: unknown) => {
      kept = undefined;
      throw error;
    });
    const { before, after } = await kept;
    return c.body(`${before}"servers":${JSON.stringify([{ url: apiOrigin(c) }])}${after}`, 200, { 'Content-Type': 'application/json' });
  };
}

/** The text around the servers, which are the only part that differs from one deployment to the next. */
async function readDocument(c: HonoContext<HttpEnvironment>): Promise<{ before: string; after: string }> {
  const answer = await c.env.ASSETS.fetch(new URL(assetPath, c.req.url));
  if (!answer.ok) throw new Error(`The asset ${assetPath} cannot be read (${answer.status}): npm run generate writes it`);
  const { openapi, info, servers: _, ...rest } = await answer.json<Record<string, unknown>>();
  return { before: `${JSON.stringify({ openapi, info }).slice(0, -1)},`, after: `,${JSON.stringify(rest).slice(1)}` };
}
