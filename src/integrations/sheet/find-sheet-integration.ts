import type { Context } from '../../context.ts';
import { actionFailure, type ActionFailure } from '../actions/run-action.ts';
import type { Integration } from '../contract.ts';
import { findCurrent, findIntegration } from '../store.ts';

/** What to do when no sheet is connected, as part of a sentence. */
export const connectHint = 'connect one with POST /integration/connect { "provider": "sheet" }';

/** The sheet integration with this id; null: the current one. It may be inactive. */
export async function findSheetIntegration({ database, organization }: Context, id: number | null): Promise<Integration | ActionFailure> {
  if (id === null)
    return (
      (await findCurrent(database, organization.id, 'sheet')) ?? actionFailure('not_connected', `No sheet is connected; ${connectHint}`)
    );
  const integration = await findIntegration(database, organization.id, id);
  if (integration === null) return actionFailure('not_connected', `There is no integration ${id}, or no longer; ${connectHint}`);
  if (integration.provider !== 'sheet')
    return actionFailure('rejected', `Integration ${id} is of ${integration.provider}, not of sheet; name one of GET /integration/`);
  return integration;
}

/** The ids of the sheet integrations that a journey may name: at most one. */
export async function currentSheetIds({ database, organization }: Context): Promise<Set<number>> {
  const current = await findCurrent(database, organization.id, 'sheet');
  return new Set(current === null ? [] : [current.id]);
}
