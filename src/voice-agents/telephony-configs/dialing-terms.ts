import type { Context } from '../../accounts/context.ts';
import { currentOrganization } from '../../accounts/organizations.ts';
import { findDefaultConfig } from './store.ts';

/** On which terms the organization's calls are dialled. */
export interface DialingTerms {
  /** Calls at once, of the plan. */
  limit: number;
  /** Between two calls to one person; 0: none needed. */
  minHoursBetweenCalls: number;
  /** The default configuration; null: there is none, and nothing can be dialled. */
  config: {
    id: number;
    provider: 'twilio' | 'telnyx';
    /** E.164. */
    fromNumbers: string[];
    callsPerSecond: number;
    machineDetection: boolean;
  } | null;
  /** Whether any of its configurations has an agent for inbound calls. */
  hasInbound: boolean;
}

/** Read anew: the context's organization may be a minute old. */
export async function dialingTerms(context: Context): Promise<DialingTerms> {
  const [organization, { config, hasInbound }] = await Promise.all([
    currentOrganization(context),
    findDefaultConfig(context.database, context.organization.id),
  ]);
  return {
    limit: organization.plan.concurrentCallLimit,
    minHoursBetweenCalls: organization.minHoursBetweenCalls,
    config: config && {
      id: config.id,
      provider: config.provider,
      fromNumbers: config.fromNumbers,
      callsPerSecond: config.callsPerSecond,
      machineDetection: config.machineDetection,
    },
    hasInbound,
  };
}
