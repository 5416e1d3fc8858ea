import { OpenAPIHono, z } from '@hono/zod-openapi';
import type { HttpEnvironment } from './environment.ts';
import { answerInvalid } from './errors.ts';

/** A room's routes. Every path answers with and without a trailing slash. */
export const createArea = () => new OpenAPIHono<HttpEnvironment>({ strict: false, defaultHook: answerInvalid });

export const jsonBody = <T extends z.ZodType>(schema: T) => ({ content: { 'application/json': { schema } }, required: true as const });

export const jsonResponse = <T extends z.ZodType>(schema: T, description = 'Success') => ({
  description,
  content: { 'application/json': { schema } },
});

const ErrorBody = z.object({ detail: z.string() }).openapi('Error');
const ValidationErrorBody = z
  .object({ detail: z.array(z.object({ loc: z.array(z.string()), msg: z.string(), type: z.string() })) })
  .openapi('ValidationError');

export const errorMeanings: Record<number, string> = {
  400: 'Bad request: malformed JSON, no organization selected, or an operation that this kind of resource does not have',
  401: 'Missing, unknown, revoked or expired credentials',
  403: 'Not allowed',
  404: 'Not found in this organization',
  409: 'Wrong state, or a unique value that is taken',
  413: 'Body over the limit',
  415: 'Content type that cannot be read',
  422: 'Validation failed; `loc` names the field',
  429: 'Rate limit; see Retry-After',
  502: 'A provider refused or failed',
};

/** The errors of an operation: 401, 422 and 429 always, and those named. */
export function errorResponses(...statuses: number[]) {
  const all = [...new Set([401, 422, 429, ...statuses])].toSorted((a, b) => a - b);
  return Object.fromEntries(
    all.map((status) => [status, jsonResponse(status === 422 ? ValidationErrorBody : ErrorBody, errorMeanings[status])]),
  );
}

const integerText = z
  .string()
  .regex(/^[1-9]\d{0,15}$/, 'Must be a positive integer')
  .transform(Number)
  .refine(Number.isSafeInteger, 'Must be an integer below 2^53');

/** An id in a path. */
export const pathId = integerText.openapi({ type: 'integer', example: 42 });
/** An id in a query or a body. */
export const queryId = integerText.openapi({ type: 'integer', example: 42 });
export const bodyId = z.int().positive();

export const timestamp = z.iso.datetime().openapi({ example: '2026-11-20T10:15:30.000Z' });

export const deletedStatus = z.object({ status: z.literal('deleted') }).openapi('Deleted');
