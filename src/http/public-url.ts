import type { Context as HonoContext } from 'hono';
import type { HttpEnvironment } from './environment.ts';

export const basePath = '/api/v1';

/** The address at which callers reach the service: PUBLIC_URL, or the origin of this request. */
export const apiOrigin = (c: HonoContext<HttpEnvironment>): string =>
  (c.var.settings.PUBLIC_URL || new URL(c.req.url).origin).replace(/\/$/, '');

export const apiUrl = (c: HonoContext<HttpEnvironment>): string => `${apiOrigin(c)}${basePath}`;
