import type { Context } from '../../accounts/context.ts';
import { findContacts } from '../../contacts/find-contacts.ts';
import { maximumDepth } from '../../events/accept.ts';
import { toTimestamp } from '../../library/clock.ts';
import { startRuns } from '../runs/start.ts';
import { candidateOf, type TriggerCause } from './match.ts';
import { armedByTopics, type ArmedTrigger } from './store.ts';

export interface InternalEvent {
  name: string;
  /** Names what happened; a trigger starts one run for it. */
  cause: string;
  contactId: number | null;
  depth: number;
  data: Record<string, unknown>;
}

/** Starts a run for every active trigger on an internal event. Repeatable. Beyond the depth limit nothing starts. */
export async function fireInternalEvent(context: Context, event: InternalEvent): Promise<void> {
  const triggers = await context.database.all<ArmedTrigger>(
    armedByTopics(context.database, context.organization.id, [`event:${event.name}`]),
  );
  if (!triggers.length) return;
  if (event.depth > maximumDepth) {
    context.log.warn('internal event triggers nothing: journeys set off each other too deep', { event: event.name, cause: event.cause });
    return;
  }
  const contact = event.contactId === null ? null : ((await findContacts(context, [event.contactId])).get(event.contactId) ?? null);
  const cause: TriggerCause = {
    key: event.cause,
    contact,
    event: { id: null, type: event.name, data: event.data, created_at: toTimestamp(context.clock()) },
    webhook: null,
    source: 'run',
    sourceId: null,
    initialContext: event.data,
    depth: event.depth,
  };
  await startRuns(
    context,
    triggers.flatMap((trigger) => candidateOf(context, trigger, cause) ?? []),
  );
}
