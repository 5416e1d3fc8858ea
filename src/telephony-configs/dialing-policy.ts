import type { Context } from '../context.ts';
import { readCurrentOrganization } from '../accounts/organizations/background-context.ts';
import type { CarrierKey } from '../providers/telephony/registry.ts';
import { findDefaultConfig } from './store.ts';

/** The rules and limits by which an organization's calls are dialled. */
export interface DialingPolicy {
  /** How many live calls the plan allows. */
  limit: number;
  /** The hours between two calls to one person; 0: none. */
  minHoursBetweenCalls: number;
  /** The default configuration; null: there is none, and nothing can be dialled. */
  config: {
    id: number;
    provider: CarrierKey;
    /** E.164. */
    fromNumbers: string[];
    callsPerSecond: number;
    machineDetection: boolean;
  } | null;
  /** Whether any of its configurations has an agent for inbound calls. */
  hasInbound: boolean;
}

/** Loads the dialling policy. The organization is read anew, since the context's may be a minute old. */
export async function loadDialingPolicy(context: Context): Promise<DialingPolicy> {
  const [organization, { config, hasInbound }] = await Promise.all([
    readCurrentOrganization(context),
    findDefaultConfig(context.database, context.organization.id),
  ]);
  return {
    limit: organization.plan.concurrentCallLimit,
    minHoursBetweenCalls: organization.minHoursBetweenCalls,
    config: config && {
      id: config.id,
      provider: config.provider as CarrierKey,
      fromNumbers: config.fromNumbers,
      callsPerSecond: config.callsPerSecond,
      machineDetection: config.machineDetection,
    },
    hasInbound,
  };
}
