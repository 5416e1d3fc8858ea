/**
 * The closed family of failures that a caller may see. `http/errors.ts` turns each into its status and `{ detail }`, or
 * `{ detail: word, message }` where a word names the failure to programs.
 * `code` is an own property because it survives a Durable Object RPC, where the class does not.
 */
export type ErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'invalid'
  | 'rate_limited'
  | 'provider_failed';

/** One problem of a 422: `loc` starts with body, query or path, every part a string. */
export interface Issue {
  loc: string[];
  msg: string;
  type: string;
}

export class ServiceError extends Error {
  readonly code: ErrorCode;
  /** The failure's name for programs, such as `not_connected`; `message` is the sentence for people. */
  readonly word: string | undefined;
  readonly issues: Issue[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, more: { word?: string; issues?: Issue[]; retryAfterSeconds?: number } = {}) {
    super(message);
    this.name = 'ServiceError';
    this.code = code;
    this.word = more.word;
    this.issues = more.issues;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}

export const badRequest = (message: string) => new ServiceError('bad_request', message);
export const unauthorized = (message: string) => new ServiceError('unauthorized', message);
export const forbidden = (message: string, word?: string) => new ServiceError('forbidden', message, withWord(word));
export const notFound = (what: string) => new ServiceError('not_found', `${what} not found`);
export const conflict = (message: string, word?: string) => new ServiceError('conflict', message, withWord(word));
export const tooLarge = (message: string) => new ServiceError('payload_too_large', message);
export const unsupportedMediaType = (message: string) => new ServiceError('unsupported_media_type', message);
export const rateLimited = (message: string, retryAfterSeconds: number) => new ServiceError('rate_limited', message, { retryAfterSeconds });

const withWord = (word: string | undefined) => (word === undefined ? {} : { word });

/** A 422 with several problems, or with one at `loc`. */
export const invalid = (issues: Issue[]) => new ServiceError('invalid', issues.map((issue) => issue.msg).join('; '), { issues });
export const invalidAt = (loc: (string | number)[], msg: string, type = 'value_error') => invalid([{ loc: loc.map(String), msg, type }]);

/** Whether `error` is a ServiceError, also after it crossed an RPC boundary and lost its class. */
export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && error.name === 'ServiceError' && 'code' in error;
}
