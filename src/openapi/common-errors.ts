import { errorDescriptions } from '../http/router.ts';
import type { Operation, Response } from './document-types.ts';

interface CommonError {
  /** The name of the response among the components. */
  name: string;
  example: unknown;
  headers?: Record<string, unknown>;
}

/** The errors that mean the same everywhere, by status. */
const commonErrors: Record<string, CommonError> = {
  400: { name: 'BadRequest', example: { detail: 'No organization selected' } },
  401: { name: 'Unauthorized', example: { detail: 'Missing credentials; send an X-API-Key header, or log in' } },
  403: {
    name: 'Forbidden',
    example: { detail: 'insufficient_scope: this call needs an API key with the scope "write"; its scopes are read' },
  },
  404: { name: 'NotFound', example: { detail: 'Contact not found' } },
  409: { name: 'Conflict', example: { detail: 'phone +14155550123 is taken by contact 7; update that contact or give another phone' } },
  413: { name: 'PayloadTooLarge', example: { detail: 'Body is over the limit of 1 MiB; send less in one request' } },
  415: { name: 'UnsupportedMediaType', example: { detail: 'Content-Type "text/plain" cannot be read; send application/json' } },
  422: {
    name: 'ValidationFailed',
    example: { detail: [{ loc: ['body', 'name'], msg: 'Must not be empty', type: 'too_small' }] },
  },
  429: {
    name: 'TooManyRequests',
    example: { detail: 'More than 600 requests in 10 seconds; wait 2 s, then send fewer at a time' },
    headers: { 'Retry-After': { description: 'Seconds to wait before the next try.', schema: { type: 'integer', minimum: 1 } } },
  },
  503: {
    name: 'Unavailable',
    example: { detail: 'The database did not take the request at the moment; send it again' },
    headers: { 'Retry-After': { description: 'Seconds to wait before the next try.', schema: { type: 'integer', minimum: 1 } } },
  },
  502: { name: 'ProviderFailed', example: { detail: 'The provider could not be reached; try again later' } },
};

export const errorReference = (status: number): Response => ({ $ref: `#/components/responses/${commonErrors[status]!.name}` });

/** Takes the common errors out of the operations and answers them by name, each with an example. */
export function extractCommonErrors(operations: Operation[]): Record<string, Response> {
  const taken: Record<string, Response> = {};
  for (const { responses } of operations)
    for (const [status, response] of Object.entries(responses)) {
      const common = commonErrors[status];
      if (!common || response.description !== errorDescriptions[Number(status)]) continue;
      const [media] = Object.values(response.content ?? {});
      taken[common.name] ??= {
        ...response,
        ...(common.headers ? { headers: common.headers } : {}),
        content: { 'application/json': { ...media, example: common.example } },
      };
      responses[status] = errorReference(Number(status));
    }
  return taken;
}
