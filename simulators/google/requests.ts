import type { Context } from 'hono';
import type { z } from 'zod';
import { hasAnyScope, parseAuthorization, readJsonObject, type Grant } from '../grants.ts';
import { GoogleError, invalid, scopeMissing } from './errors.ts';

/** The grant of a request that covers one of these scopes, which are without `https://www.googleapis.com/auth/`. */
export function requireScope(c: Context, ...anyOf: string[]): Grant {
  const grant = parseAuthorization(c.req.header('authorization'), 'Bearer');
  if (grant === 'missing' || grant === 'invalid')
    throw new GoogleError(401, 'Request had invalid authentication credentials. Expected OAuth 2 access token.', { reason: 'authError' });
  const scopes = grant.scopes?.map((scope) => scope.replace('https://www.googleapis.com/auth/', ''));
  if (!hasAnyScope({ ...grant, scopes }, ...anyOf)) throw scopeMissing();
  return grant;
}

export function requireQuery(c: Context, known: string[]): void {
  const unknown = Object.keys(c.req.query()).find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalid(`Invalid JSON payload received. Unknown name "${unknown}": Cannot bind query parameter.`);
}

export async function readBody<Body>(request: Request, shape: z.ZodType<Body>): Promise<Body> {
  const body = await readJsonObject(request);
  if (body === undefined) throw invalid('Invalid JSON payload received. Expected an object.', 'parseError');
  const parsed = shape.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys')
    throw invalid(
      `Invalid JSON payload received. Unknown name "${issue.keys[0]}"${path && ` at '${path}'`}: Cannot find field.`,
      'badRequest',
    );
  throw invalid(`Invalid value at '${path}': ${issue.message}`, 'invalid');
}
