import type { Context } from '../../accounts/context.ts';
import { findContacts } from '../../contacts/find-contacts.ts';
import { toTimestamp } from '../../library/clock.ts';
import { flatMapInTurn } from '../../library/flat-map-in-turn.ts';
import { startRuns } from '../runs/start.ts';
import { internalKey, type internalEvents } from './internal-events.ts';
import { candidateOf, type TriggerCause } from './match.ts';
import { armedByTopics, type ArmedTrigger } from './store.ts';
import { isTooDeep, noteRefusedByPlan } from './kept-out.ts';

export interface InternalEvent {
  name: (typeof internalEvents)[number];
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
  if (isTooDeep(context, event.depth, `${event.name} (${event.cause})`, triggers)) return;
  const contact = event.contactId === null ? null : ((await findContacts(context, [event.contactId])).get(event.contactId) ?? null);
  const data = { event_type: event.name, ...event.data };
  const cause: TriggerCause = {
    key: internalKey(event.cause),
    contact,
    event: { id: null, type: event.name, data, created_at: toTimestamp(context.clock()) },
    webhook: null,
    source: 'run',
    sourceId: null,
    initialContext: data,
    depth: event.depth,
  };
  const { refused } = await startRuns(context, await flatMapInTurn(triggers, (trigger) => candidateOf(context, trigger, cause)));
  noteRefusedByPlan(context, refused);
}
