import type { Context } from '../../context.ts';
import type { ChatappData, Integration, TrackerData } from '../contract.ts';
import { findSummaryTargets } from '../store.ts';
import type { EndedCall } from './ended-call.ts';
import { isQualified } from './is-qualified.ts';

/** Ids of the integrations that are told of this call: those that have a channel or a project for it, and want such calls. */
export async function summaryTargets({ database, organization }: Context, call: EndedCall): Promise<number[]> {
  const found = await findSummaryTargets(database, organization.id);
  return found.filter((integration) => hasDestination(integration) && wantsCall(integration, call)).map(({ id }) => id);
}

const hasDestination = ({ providerData }: Integration): boolean =>
  Boolean((providerData as ChatappData).channel ?? (providerData as TrackerData).project);

const wantsCall = ({ action }: Integration, call: EndedCall): boolean => action === 'all_calls' || isQualified(call);
