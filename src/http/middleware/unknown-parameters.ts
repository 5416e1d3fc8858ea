import { z, type OpenAPIHono } from '@hono/zod-openapi';
import { createMiddleware } from 'hono/factory';
import { matchedRoutes } from 'hono/route';
import type { HttpEnvironment } from '../environment.ts';
import { percentEncoded } from '../../library/text/clean-text.ts';

const maxNamesShown = 5;
const maxNameLength = 60;

/** Names the query parameters that the called operation does not have in a `Warning` header; they are ignored. */
export function warnAboutUnknownParameters(app: OpenAPIHono<HttpEnvironment>) {
  let byOperation: Map<string, ReadonlySet<string>> | undefined;
  return createMiddleware<HttpEnvironment>(async (c, next) => {
    const given = c.req.url.includes('?') ? Object.keys(c.req.queries()) : [];
    if (given.length === 0) return next();
    byOperation ??= parametersByOperation(app);
    const operation = matchedRoutes(c).find(({ method, path }) => byOperation!.has(`${method} ${path}`));
    const known = operation && byOperation.get(`${operation.method} ${operation.path}`)!;
    const unknown = known ? given.filter((name) => name !== '' && !known.has(name)) : [];
    if (!known || unknown.length === 0) return next();
    const warning = toWarning(unknown, known);
    c.header('Warning', warning);
    await next();
    // An answer that was created elsewhere lacks the headers that were set before it.
    if (!c.res.headers.has('Warning')) c.header('Warning', warning);
    return undefined;
  });
}

/** The query parameters of each operation whose schema names all of them, by method and by path in the router's form. */
function parametersByOperation(app: OpenAPIHono<HttpEnvironment>): Map<string, ReadonlySet<string>> {
  const found = new Map<string, ReadonlySet<string>>();
  for (const definition of app.openAPIRegistry.definitions) {
    if (definition.type !== 'route') continue;
    const { method, path, request } = definition.route;
    const query = request?.query ?? z.object({});
    const takesAny = !(query instanceof z.ZodObject) || query.def.catchall instanceof z.ZodUnknown;
    if (!takesAny) found.set(`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`, new Set(Object.keys(query.shape)));
  }
  return found;
}

/** The form of RFC 9111, 5.5, without characters that a header cannot contain. */
function toWarning(unknown: string[], known: ReadonlySet<string>): string {
  const names = unknown.slice(0, maxNamesShown).map((name) => percentEncoded(name.slice(0, maxNameLength)).slice(0, maxNameLength));
  const more = unknown.length > maxNamesShown ? ` and ${unknown.length - maxNamesShown} more` : '';
  const takes = known.size === 0 ? 'takes none' : `takes ${[...known].join(', ')}`;
  return `299 - "Unknown query parameters are ignored: ${names.join(', ')}${more}; this operation ${takes}"`;
}
