import type { Context } from '../../context.ts';
import type { ChatappData, Integration, TrackerData } from '../contract.ts';
import { findSummaryTargets } from '../store.ts';
import type { EndedCall } from './ended-call.ts';

/** Ids of the integrations that are told of this call: those that have a channel or a project for it, and want such calls. */
export async function summaryTargets({ database, organization }: Context, call: EndedCall): Promise<number[]> {
  const found = await findSummaryTargets(database, organization.id);
  return found.filter((integration) => hasDestination(integration) && wantsCall(integration, call)).map(({ id }) => id);
}

const hasDestination = ({ providerData }: Integration): boolean =>
  Boolean((providerData as ChatappData).channel ?? (providerData as TrackerData).project);

const wantsCall = ({ action }: Integration, call: EndedCall): boolean => action === 'all_calls' || isQualified(call);

/** Dispositions of talks that nobody needs to hear of. Every other entry of an agent's own list of dispositions counts. */
const unsuccessfulDispositions = new Set(['not_interested', 'wrong_person', 'unclear']);

/** Whether a person was reached and the talk led to something: the calls that `qualified_calls` selects. */
export const isQualified = ({ outcome, disposition, isOptOut }: Pick<EndedCall, 'outcome' | 'disposition' | 'isOptOut'>): boolean =>
  outcome === 'completed' && disposition !== null && !unsuccessfulDispositions.has(disposition) && !isOptOut;
