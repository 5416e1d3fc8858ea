import type { Context } from '../../context.ts';
import type { ChatappData, Integration, TrackerData } from '../contract.ts';
import { findSummaryTargets } from '../store.ts';
import type { EndedCall } from './ended-call.ts';

/**
 * The ids of the integrations to which a summary of this call is posted: those with a channel or project whose `action` selects the call.
 */
export async function summaryTargets({ database, organization }: Context, call: EndedCall): Promise<number[]> {
  const found = await findSummaryTargets(database, organization.id);
  return found.filter((integration) => hasDestination(integration) && wantsCall(integration, call)).map(({ id }) => id);
}

const hasDestination = ({ providerData }: Integration): boolean =>
  Boolean((providerData as ChatappData).channel ?? (providerData as TrackerData).project);

const wantsCall = ({ action }: Integration, call: EndedCall): boolean => action === 'all_calls' || isQualified(call);

/** Dispositions of talks without success. Every other disposition counts as a success. */
const unsuccessfulDispositions = new Set(['not_interested', 'wrong_person', 'unclear']);

/** Whether `qualified_calls` selects the call: a person was reached, and the talk was a success. */
export const isQualified = ({ outcome, disposition, isOptOut }: Pick<EndedCall, 'outcome' | 'disposition' | 'isOptOut'>): boolean =>
  outcome === 'completed' && disposition !== null && !unsuccessfulDispositions.has(disposition) && !isOptOut;
