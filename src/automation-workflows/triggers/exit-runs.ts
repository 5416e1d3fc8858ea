import type { Context } from '../../accounts/context.ts';
import type { ContactRecord } from '../../contacts/records.ts';
import { toTimestamp } from '../../library/clock.ts';
import { runsToExit, type ExitOf, type ExitTopic } from '../runs/exit-store.ts';
import { endRun } from '../runs/stop.ts';
import type { OfferedEvent } from '../runs/surroundings.ts';
import { settingsFrom } from '../settings.ts';
import { exitOf } from './exit-rules.ts';
import { triggerScope, type TriggerCause } from './match.ts';

const pageSize = 500;
const parallel = 25;

/** Ends the live runs that events end by `exit_on`, at once, with outcome `exited`. Repeatable. */
export async function exitRuns(
  context: Context,
  events: OfferedEvent[],
  topics: ExitTopic[],
  contacts: Map<number, ContactRecord>,
): Promise<void> {
  const exits = events.flatMap((event) =>
    topics
      .filter((topic) => topic.event_type === event.type)
      .flatMap((topic) => exitsOf(context, event, topic, event.contact_id === null ? null : (contacts.get(event.contact_id) ?? null))),
  );
  if (!exits.length) return;
  const byId = new Map(events.map((event) => [event.id, event]));
  for (let afterId = 0; ;) {
    const page = await runsToExit(context.database, context.organization.id, exits, afterId, pageSize);
    const waiting = [...page];
    const worker = async () => {
      for (let run = waiting.shift(); run; run = waiting.shift())
        await endRun(context, run.id, { state: 'completed', outcome: 'exited' }, exitWords(byId.get(run.event_id)!));
    };
    await Promise.all(Array.from({ length: Math.min(parallel, page.length) }, worker));
    if (page.length < pageSize) return;
    afterId = page.at(-1)!.id;
  }
}

export const exitWords = (event: Pick<OfferedEvent, 'id' | 'type'>): string =>
  `event ${event.type} (id ${event.id}) ended the run by exit_on`;

function exitsOf(context: Context, event: OfferedEvent, topic: ExitTopic, contact: ContactRecord | null): ExitOf[] {
  const now = context.clock();
  const scope = triggerScope(context, causeOf(event, contact), now);
  try {
    return settingsFrom(topic.settings).exit_on.flatMap((rule) => {
      const of = exitOf(rule, event, scope, now);
      return of ? [{ event_id: event.id, event_at: event.createdAt, workflow_id: topic.workflow_id, ...of }] : [];
    });
  } catch (error) {
    // The rules of one journey, which would fail again, do not hold up the others.
    context.log.error('exit_on could not be evaluated', { workflow_id: topic.workflow_id, error: (error as Error).message });
    return [];
  }
}

/** An event as rules and filters see it before there is a run. */
export const causeOf = (
  event: OfferedEvent,
  contact: ContactRecord | null,
): Pick<TriggerCause, 'event' | 'webhook' | 'initialContext' | 'contact'> => ({
  contact,
  event: { id: event.id, type: event.type, data: event.data, created_at: toTimestamp(event.createdAt) },
  webhook: null,
  initialContext: event.data as Record<string, unknown>,
});
