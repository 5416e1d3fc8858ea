import type { Context } from '../../accounts/context.ts';
import { isServiceError } from '../../library/errors.ts';
import type { AppConnection } from '../../providers/apps/connection.ts';
import type { App, AppFailure, AppFailureKind } from '../../providers/broker/broker.ts';
import { fail } from '../../providers/broker/failing.ts';
import { connectionOf, connectionTo, inactiveOn } from '../connection-to.ts';
import type { Integration } from '../contract.ts';

/**
 * Why something was not done in a connected tool. Beside what the provider says: something that is to be chosen first, a column that the
 * sheet does not have, or an earlier try of which nobody can say whether it took effect (`unknown`).
 */
export type ActionFailure = Omit<AppFailure, 'failure'> & {
  failure: AppFailureKind | 'no_channel' | 'no_project' | 'no_sheet' | 'unknown_column' | 'unknown';
};

export const failed = (failure: ActionFailure['failure'], message: string): ActionFailure => ({ failure, message });

interface Connected {
  integration: Integration;
  connection: AppConnection;
}

/** Does something in the organization's connected tool. A connection that is found dead makes the integration inactive. */
export const withConnection = <Outcome extends object>(
  context: Context,
  app: App,
  act: (connected: Connected) => Promise<Outcome | ActionFailure>,
): Promise<Outcome | ActionFailure> => acting(context, () => connectionTo(context, app), act);

/** As `withConnection`, with one integration. */
export const withIntegration = <Outcome extends object>(
  context: Context,
  integration: Integration,
  act: (connected: Connected) => Promise<Outcome | ActionFailure>,
): Promise<Outcome | ActionFailure> => acting(context, async () => ({ integration, connection: connectionOf(context, integration) }), act);

async function acting<Outcome extends object>(
  context: Context,
  connect: () => Promise<Connected>,
  act: (connected: Connected) => Promise<Outcome | ActionFailure>,
): Promise<Outcome | ActionFailure> {
  const connected = await connect().catch(notConnected);
  if ('failure' in connected) return connected;
  const outcome = await act(connected);
  if (isFailure(outcome)) await noteDead(context, connected.integration, outcome);
  return outcome;
}

export const isFailure = (outcome: object): outcome is ActionFailure => 'failure' in outcome;

function notConnected(error: unknown): AppFailure {
  if (!isServiceError(error) || error.word !== 'not_connected') throw error;
  return fail('not_connected', error.message);
}

async function noteDead(context: Context, integration: Integration, { failure, ...more }: ActionFailure): Promise<void> {
  if (failure === 'not_connected') await inactiveOn(context, integration, { failure, ...more });
}
