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

const internalKeyPrefix = 'internal:';

/** The key of what happened, for the runs that it starts. */
export const toInternalKey = (cause: string): string => `${internalKeyPrefix}${cause}`;

/** Whether a run with this dedup key was started by an internal event: its initial context is then the event's data. */
export const isInternalEventKey = (dedupKey: string): boolean => dedupKey.startsWith(internalKeyPrefix);
