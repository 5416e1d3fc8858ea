import type { Context } from '../accounts/context.ts';
import type { AppFailure } from '../providers/broker/broker.ts';
import { inactiveOn } from './connection-to.ts';
import type { Integration } from './contract.ts';
import { serviceErrorOf } from './service-error-of.ts';

/** What was asked of a provider, or throws what a caller is told. A connection that is found dead makes the integration inactive. */
export async function succeeded<Outcome extends object>(
  context: Context,
  integration: Integration,
  outcome: Outcome | AppFailure,
): Promise<Exclude<Outcome, AppFailure>> {
  if (isFailure(outcome)) await inactiveOn(context, integration, outcome);
  return succeededAtBroker(outcome);
}

/** What was asked of the broker, or throws what a caller is told. */
export function succeededAtBroker<Outcome extends object>(outcome: Outcome | AppFailure): Exclude<Outcome, AppFailure> {
  if (isFailure(outcome)) throw serviceErrorOf(outcome);
  return outcome as Exclude<Outcome, AppFailure>;
}

const isFailure = (outcome: object): outcome is AppFailure => 'failure' in outcome;
