import type { Context } from '../context.ts';
import type { AppFailure } from '../providers/broker/broker.ts';
import { deactivateIfDisconnected } from './connection/active-connection.ts';
import type { Integration } from './contract.ts';
import { ServiceError } from '../library/errors.ts';

/** The result of a request to a provider. Throws the error for the caller. A dead connection makes the integration inactive. */
export async function unwrapOutcome<Outcome extends object>(
  context: Context,
  integration: Integration,
  outcome: Outcome | AppFailure,
): Promise<Exclude<Outcome, AppFailure>> {
  if (isFailure(outcome)) await deactivateIfDisconnected(context, integration, outcome);
  return unwrapBrokerOutcome(outcome);
}

/** The result of a request to the broker. Throws the error for the caller. */
export function unwrapBrokerOutcome<Outcome extends object>(outcome: Outcome | AppFailure): Exclude<Outcome, AppFailure> {
  if (isFailure(outcome)) throw toServiceError(outcome);
  return outcome as Exclude<Outcome, AppFailure>;
}

const isFailure = (outcome: object): outcome is AppFailure => 'failure' in outcome;

/** The error for a caller: 404 `not_connected`, 403 `insufficient_permissions`, else 502. */
export function toServiceError({ failure, message, retryAfterSeconds }: AppFailure): ServiceError {
  if (failure === 'not_connected') return new ServiceError('not_found', message, { word: failure });
  if (failure === 'insufficient_permissions') return new ServiceError('forbidden', `insufficient_permissions: ${message}`);
  return new ServiceError('provider_failed', message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}
