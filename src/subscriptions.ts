import { notifyRun } from './automation-workflows/runs/lifecycle/notify-run.ts';
import {
  fireInternalEvent,
  hasInternalEventTrigger,
  type InternalEvent,
} from './automation-workflows/triggers/events/fire-internal-event.ts';
import { pauseCampaignsOfAgent } from './campaigns/subscribers.ts';
import { notifyDialingPolicyChanged, refuseDeletionWithLiveCalls } from './calls/slots/notify-call-slots.ts';
import type { Context } from './context.ts';
import type { JourneyEvent, Subscriptions } from './outbox/published-events.ts';
import { wakeWebhookEndpoints } from './webhook-endpoints/wake-endpoints.ts';

/** Starts a run for every active trigger on the event. */
const journeyTriggers = (name: InternalEvent['name']) => ({
  handle: (context: Context, event: JourneyEvent) => fireInternalEvent(context, { name, ...event }),
  isNeeded: (context: Context) => hasInternalEventTrigger(context, name),
});

/** The subscribers of each published event. */
export const subscriptions: Subscriptions = {
  'agent.archived': [{ handle: (context, { agentId }) => pauseCampaignsOfAgent(context, agentId) }],
  'dialing_policy.changed': [{ handle: notifyDialingPolicyChanged }],
  'telephony_config.deleting': [{ handle: (context, { configId }) => refuseDeletionWithLiveCalls(context, configId) }],
  'webhook_event.recorded': [
    {
      handle: async (context, { type }) => context.defer(wakeWebhookEndpoints(context, type)),
    },
  ],
  'call.settled': [
    { handle: (context, { automationRunId, agentRunId }) => notifyRun(context, { id: automationRunId, of: 'call', ended_id: agentRunId }) },
  ],
  'call.completed': [journeyTriggers('call.completed')],
  'campaign.completed': [journeyTriggers('campaign.completed')],
  'document.processed': [journeyTriggers('document.processed')],
  'document.failed': [journeyTriggers('document.failed')],
  'run.completed': [journeyTriggers('run.completed')],
  'run.failed': [journeyTriggers('run.failed')],
};
