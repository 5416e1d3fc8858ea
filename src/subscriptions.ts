import { pauseCampaignsOfAgent } from './campaigns/subscribers/agent-archived.ts';
import { notifyDialingPolicyChanged, refuseDeletionWithLiveCalls } from './calls/slots/notify-call-slots.ts';
import type { Subscriptions } from './outbox/published-events.ts';

/** What each published event leads to in other areas. */
export const subscriptions: Subscriptions = {
  'agent.archived': [{ handle: (context, { agentId }) => pauseCampaignsOfAgent(context, agentId) }],
  'dialing_policy.changed': [{ handle: notifyDialingPolicyChanged }],
  'telephony_config.deleting': [{ handle: (context, { configId }) => refuseDeletionWithLiveCalls(context, configId) }],
};
