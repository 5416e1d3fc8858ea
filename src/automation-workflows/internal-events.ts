/** Events of the service itself, from which triggers of type `event` start journeys. */
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

/** The dedup key of the runs that an internal event starts; `cause` names the event. */
export const toInternalKey = (cause: string): string => `${internalKeyPrefix}${cause}`;

/** Whether an internal event started the run with this dedup key. The run's initial context is then the event's data. */
export const isInternalEventKey = (dedupKey: string): boolean => dedupKey.startsWith(internalKeyPrefix);
