import type { Context } from '../context.ts';

/** An event that journeys can start from. */
export interface JourneyEvent {
  /** Names the occurrence: a trigger starts one run for a key, however often the event is published. */
  key: string;
  contactId: number | null;
  /** How many runs, each started by the one before, led to the event. */
  depth: number;
  /** The initial context of the runs. */
  data: Record<string, unknown>;
}

/** The events that areas publish, with their payloads. `src/subscriptions.ts` lists the subscribers. */
export interface PublishedEvents {
  /** A voice agent was archived: it takes no more calls. */
  'agent.archived': { agentId: number };
  /** The terms of dialling changed: a telephony configuration, or a setting of the organization. */
  'dialing_policy.changed': Record<never, never>;
  /** A telephony configuration is about to be deleted. A subscriber throws 409 to refuse. */
  'telephony_config.deleting': { configId: number };
  /** The database may have recorded an event for webhook endpoints, of this type: see `src/webhook-endpoints/event-paths.ts`. Never throws. */
  'webhook_event.recorded': { type: string };
  /** The row of a call that a journey asked for is complete. */
  'call.settled': { automationRunId: number; agentRunId: number };
  'call.completed': JourneyEvent;
  'campaign.completed': JourneyEvent;
  'document.processed': JourneyEvent;
  'document.failed': JourneyEvent;
  'run.completed': JourneyEvent;
  'run.failed': JourneyEvent;
}

export type PublishedEventName = keyof PublishedEvents;

interface Subscriber<Name extends PublishedEventName> {
  /** Must be repeatable: a publisher that fails publishes again. */
  handle(context: Context, event: PublishedEvents[Name]): Promise<void>;
  /** Whether handling would do anything for the context's organization. Absent: always. */
  isNeeded?: (context: Context) => Promise<boolean>;
}

/** The subscribers of every event, in the order in which they handle it. */
export type Subscriptions = { [Name in PublishedEventName]: Subscriber<Name>[] };

let subscriptions: Partial<Subscriptions> = {};

/** Sets the subscribers of this isolate. The Worker and the tests call this when they start. */
export function setSubscriptions(all: Subscriptions): void {
  subscriptions = all;
}

/** Has all subscribers handle an event, one after the other, and waits for them. The error of the first subscriber that fails ends this and is thrown. */
export async function publish<Name extends PublishedEventName>(context: Context, name: Name, event: PublishedEvents[Name]): Promise<void> {
  for (const subscriber of subscriptions[name] ?? []) await subscriber.handle(context, event);
}

/** Whether any subscriber needs events of this name. One question before thousands of events are published. */
export async function isEventNeeded(context: Context, name: PublishedEventName): Promise<boolean> {
  for (const subscriber of subscriptions[name] ?? []) if (!subscriber.isNeeded || (await subscriber.isNeeded(context))) return true;
  return false;
}
