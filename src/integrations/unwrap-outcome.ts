import type { Context } from '../context.ts';
import type { AppFailure } from '../providers/broker/broker.ts';
import { deactivateIfDisconnected } from './connection/active-connection.ts';
import type { Integration } from './contract.ts';
import { toServiceError } from './to-service-error.ts';

/** What was asked of a provider, or throws what a caller is told. A connection that is found dead makes the integration inactive. */
export async function unwrapOutcome<Outcome extends object>(
  context: Context,
  integration: Integration,
  outcome: Outcome | AppFailure,
): Promise<Exclude<Outcome, AppFailure>> {
  if (isFailure(outcome)) await deactivateIfDisconnected(context, integration, outcome);
  return unwrapBrokerOutcome(outcome);
}

/** What was asked of the broker, or throws what a caller is told. */
export function unwrapBrokerOutcome<Outcome extends object>(outcome: Outcome | AppFailure): Exclude<Outcome, AppFailure> {
  if (isFailure(outcome)) throw toServiceError(outcome);
  return outcome as Exclude<Outcome, AppFailure>;
}

const isFailure = (outcome: object): outcome is AppFailure => 'failure' in outcome;
