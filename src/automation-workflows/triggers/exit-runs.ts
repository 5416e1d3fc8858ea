import type { Context } from '../../accounts/context.ts';
import type { ContactRecord } from '../../contacts/records.ts';
import { toTimestamp } from '../../library/clock.ts';
import { runsToExit, type ExitOf, type ExitTopic } from '../runs/exit-store.ts';
import type { FailedPart } from '../../queues/failed-messages.ts';
import { endMessage } from '../runs/end-message.ts';
import { endRun } from '../runs/stop.ts';
import type { OfferedEvent } from '../runs/surroundings.ts';
import { settingsFrom } from '../settings.ts';
import { exitOf } from './exit-rules.ts';
import { triggerScope, type TriggerCause } from './match.ts';

const pageSize = 500;
const parallel = 25;

/** Ends the live runs that events end by `exit_on`, at once, with outcome `exited`. Answers those that could not be ended. Repeatable. */
export async function exitRuns(
  context: Context,
  events: OfferedEvent[],
  topics: ExitTopic[],
  contacts: Map<number, ContactRecord>,
): Promise<FailedPart[]> {
  const exits = events.flatMap((event) =>
    topics
      .filter((topic) => topic.event_type === event.type)
      .flatMap((topic) => exitsOf(context, event, topic, event.contact_id === null ? null : (contacts.get(event.contact_id) ?? null))),
  );
  if (!exits.length) return [];
  const failed: FailedPart[] = [];
  const byId = new Map(events.map((event) => [event.id, event]));
  for (let afterId = 0; ;) {
    const page = await runsToExit(context.database, context.organization.id, exits, afterId, pageSize);
    const waiting = [...page];
    const worker = async () => {
      for (let run = waiting.shift(); run; run = waiting.shift()) {
        const { id, event_id: eventId } = run;
        const why = exitWords(byId.get(eventId)!);
        await endRun(context, id, { state: 'completed', outcome: 'exited' }, why).catch((error: unknown) =>
          failed.push({ message: endMessage(context, id, { state: 'completed', outcome: 'exited', error: null }, why), error }),
        );
      }
    };
    await Promise.all(Array.from({ length: Math.min(parallel, page.length) }, worker));
    if (page.length < pageSize) return failed;
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
