import { OpenAPIHono, z, type RouteConfig } from '@hono/zod-openapi';
import type { HttpEnvironment } from './environment.ts';
import { answerInvalid } from './errors.ts';
import { recorded } from './recorded-operations.ts';

/** The routes of one area. Every path answers with and without a trailing slash. What an operation changes is in the audit log (`recorded`). */
export function createRouter(): OpenAPIHono<HttpEnvironment> {
  const router = new OpenAPIHono<HttpEnvironment>({ strict: false, defaultHook: answerInvalid });
  const register = router.openapi as (route: RouteConfig, handler: unknown, hook?: unknown) => unknown;
  const recording = (route: RouteConfig, handler: unknown, hook?: unknown) =>
    register(route, recorded(route, handler as Parameters<typeof recorded>[1]), hook);
  router.openapi = recording as typeof router.openapi;
  return router;
}

export const jsonBody = <T extends z.ZodType>(schema: T) => ({ content: { 'application/json': { schema } }, required: true as const });

/** An answer in JSON. Without a `description`, the document shows the description of the schema. */
export const jsonResponse = <T extends z.ZodType>(schema: T, description = 'Success') => ({
  description,
  content: { 'application/json': { schema } },
});

const ErrorBody = z
  .object({
    detail: z
      .string()
      .describe('What is wrong and what to do about it, in one sentence; or a word for programs that names it, such as `not_connected`.'),
    message: z.string().optional().describe('The sentence, where `detail` is a word.'),
  })
  .describe('Why a request was refused.')
  .openapi('Error');

/** One problem, and its place. */
export const Problem = z.object({
  loc: z.array(z.string()).describe('Where it is: first `body`, `query` or `path`, then field names and list indexes, from 0.'),
  msg: z.string().describe('What is wrong with the value, in words.'),
  type: z.string().describe('The kind of problem, for programs, such as `too_small`.'),
});
const ValidationErrorBody = z
  .object({ detail: z.array(Problem).describe('Every problem that was found.') })
  .describe('Which values of a request are wrong.')
  .openapi('ValidationError');

export const errorDescriptions: Record<number, string> = {
  400: 'Bad request: no organization selected, or an operation that this kind of resource does not have',
  401: 'Missing, unknown, revoked or expired credentials',
  403: 'Not allowed',
  404: 'Not found in this organization',
  409: 'Wrong state, or a unique value that is taken',
  413: 'Body over the limit',
  415: 'Content type that cannot be read',
  422: 'Validation failed; `loc` names the field',
  429: 'Rate limit; see Retry-After',
  502: 'A provider refused or failed',
  503: 'What the service runs on is in trouble that passes; see Retry-After',
};

/** The error responses of an operation: 401, 422, 429 and 503 always, and the given ones. */
export function errorResponses(...statuses: number[]) {
  const all = [...new Set([401, 422, 429, 503, ...statuses])].toSorted((a, b) => a - b);
  return Object.fromEntries(
    all.map((status) => [status, jsonResponse(status === 422 ? ValidationErrorBody : ErrorBody, errorDescriptions[status])]),
  );
}

const integerText = z
  .string()
  .regex(/^[1-9]\d{0,15}$/, 'Must be a positive integer')
  .transform(Number)
  .refine(Number.isSafeInteger, 'Must be an integer below 2^53');

/** An id in a path. */
export const pathId = integerText.openapi({ type: 'integer', minimum: 1 });
/** An id in a query or a body. */
export const queryId = integerText.openapi({ type: 'integer', minimum: 1 });
export const bodyId = z.int().positive();

/** `schema` or null. Where the schema is a component, `.nullable()` would put the null into the component itself. */
export const orNull = <T extends z.ZodType>(schema: T) => z.union([schema, z.null()]);

/** A boolean in a query, in any case. */
export const queryBoolean = z
  .stringbool({
    truthy: ['true', '1', 'yes', 'on'],
    falsy: ['false', '0', 'no', 'off'],
    error: 'Must be true, 1, yes, on, false, 0, no or off',
  })
  .openapi({ type: 'boolean' });

export const timestamp = z.iso.datetime().openapi({ example: '2026-11-20T10:15:30.000Z' });

/** Fields that most records have. */
export const organizationId = z.int().describe('Id of the organization to which it belongs.');
export const createdAt = timestamp.describe('When it was created, ISO 8601 in UTC.');
export const updatedAt = timestamp.describe('When it was last changed, ISO 8601 in UTC; at first the time of its creation.');

/** The warnings of a record with configs. */
export const warnings = z
  .array(
    z
      .object({
        loc: z.array(z.string()).describe('Where it stands, as in a 422.'),
        msg: z.string().describe('What it is and, where a known key is near, which one may have been meant.'),
      })
      .describe('A part of a config that has no effect.')
      .openapi('Warning'),
  )
  .describe('Parts of its configs that have no effect, such as unknown keys, which are kept; mostly empty.');

export const deletedStatus = z
  .object({ status: z.literal('deleted').describe('Always `deleted`.') })
  .describe('It is gone.')
  .openapi('Deleted');
