import type { Context } from '../../accounts/context.ts';
import type { ChatappData, Integration, TrackerData } from '../contract.ts';
import { findSummaryTargets } from '../store.ts';
import type { EndedCall } from './ended-call.ts';
import { isQualified } from './qualified.ts';

/** Ids of the integrations that are told of this call: those that have a channel or a project for it, and want such calls. */
export async function summaryTargets({ database, organization }: Context, call: EndedCall): Promise<number[]> {
  const found = await findSummaryTargets(database, organization.id);
  return found.filter((integration) => hasPlace(integration) && wants(integration, call)).map(({ id }) => id);
}

const hasPlace = ({ providerData }: Integration): boolean =>
  Boolean((providerData as ChatappData).channel ?? (providerData as TrackerData).project);

const wants = ({ action }: Integration, call: EndedCall): boolean => action === 'all_calls' || isQualified(call);
