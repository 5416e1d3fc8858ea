import type { Context } from '../../context.ts';
import { isServiceError } from '../../library/errors.ts';
import type { AppConnection } from '../../providers/apps/app-client.ts';
import type { App } from '../../library/connectable-apps.ts';
import type { AppFailure, AppFailureKind } from '../../providers/broker/broker.ts';
import { appFailure } from '../../providers/broker/app-failure.ts';
import { toAppConnection, requireConnection, deactivateIfDisconnected } from '../connection/active-connection.ts';
import type { Integration } from '../contract.ts';

/**
 * Why an action failed in a connected tool: a failure at the provider, a missing setting, a column that the sheet does not have, or an
 * earlier try of unknown outcome (`unknown`).
 */
export type ActionFailure = Omit<AppFailure, 'failure'> & {
  failure: AppFailureKind | 'no_channel' | 'no_project' | 'no_sheet' | 'unknown_column' | 'unknown';
};

export const actionFailure = (failure: ActionFailure['failure'], message: string): ActionFailure => ({ failure, message });

interface Connected {
  integration: Integration;
  connection: AppConnection;
}

/** Runs an action with the organization's connection of an app. A dead connection makes the integration inactive. */
export const withConnection = <Outcome extends object>(
  context: Context,
  app: App,
  act: (connected: Connected) => Promise<Outcome | ActionFailure>,
): Promise<Outcome | ActionFailure> => runAction(context, () => requireConnection(context, app), act);

/** Runs an action with one integration, as `withConnection` does. */
export const withIntegration = <Outcome extends object>(
  context: Context,
  integration: Integration,
  act: (connected: Connected) => Promise<Outcome | ActionFailure>,
): Promise<Outcome | ActionFailure> =>
  runAction(context, async () => ({ integration, connection: toAppConnection(context, integration) }), act);

async function runAction<Outcome extends object>(
  context: Context,
  connect: () => Promise<Connected>,
  act: (connected: Connected) => Promise<Outcome | ActionFailure>,
): Promise<Outcome | ActionFailure> {
  const connected = await connect().catch(toNotConnectedFailure);
  if ('failure' in connected) return connected;
  const outcome = await act(connected);
  if (isFailure(outcome)) await deactivateOnFailure(context, connected.integration, outcome);
  return outcome;
}

export const isFailure = (outcome: object): outcome is ActionFailure => 'failure' in outcome;

function toNotConnectedFailure(error: unknown): AppFailure {
  if (!isServiceError(error) || error.word !== 'not_connected') throw error;
  return appFailure('not_connected', error.message);
}

async function deactivateOnFailure(context: Context, integration: Integration, { failure, ...more }: ActionFailure): Promise<void> {
  if (failure === 'not_connected') await deactivateIfDisconnected(context, integration, { failure, ...more });
}
