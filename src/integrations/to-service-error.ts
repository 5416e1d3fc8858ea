import { ServiceError } from '../library/errors.ts';
import type { AppFailure } from '../providers/broker/broker.ts';

/** What a caller is told of a failure at the broker or the provider: 404 `not_connected`, 403 `insufficient_permissions`, else 502. */
export function toServiceError({ failure, message, retryAfterSeconds }: AppFailure): ServiceError {
  if (failure === 'not_connected') return new ServiceError('not_found', message, { word: failure });
  if (failure === 'insufficient_permissions') return new ServiceError('forbidden', `insufficient_permissions: ${message}`);
  return new ServiceError('provider_failed', message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}
