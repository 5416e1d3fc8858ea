/** What the service itself reports; triggers of type `event` start journeys from it. */
export const internalEvents = [
  'contact.created',
  'contact.updated',
  'call.completed',
  'campaign.completed',
  'document.processed',
  'document.failed',
  'run.completed',
  'run.failed',
] as const;

export type InternalEvent = (typeof internalEvents)[number];
