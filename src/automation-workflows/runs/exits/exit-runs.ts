import pMap from 'p-map';
import type { Context } from '../../../context.ts';
import type { ContactRecord } from '../../../contacts/contacts/records.ts';
import { findRunsToExit, type ExitTarget } from './store.ts';
import type { FailedPart } from '../../../outbox/failed-messages.ts';
import { endRun } from '../lifecycle/stop-run.ts';
import { parseSettings } from '../../definitions/settings.ts';
import { matchExitRule } from './exit-rules.ts';
import { type RunEvent, buildCauseScope, toEventCause } from '../cause.ts';
import { buildEndMessage } from '../lifecycle/end-runs.ts';
import type { ExitTopic } from '../store.ts';

const pageSize = 500;
const maxConcurrentExits = 25;

/**
 * Ends the live runs whose `exit_on` rules match one of the events, with outcome `exited`. Repeatable. Answers the runs that could not be ended, as
 * messages that try again.
 */
export async function exitRuns(
  context: Context,
  events: RunEvent[],
  topics: ExitTopic[],
  contacts: Map<number, ContactRecord>,
): Promise<FailedPart[]> {
  const exits = events.flatMap((event) =>
    topics
      .filter((topic) => topic.event_type === event.type)
      .flatMap((topic) => findExits(context, event, topic, event.contact_id === null ? null : (contacts.get(event.contact_id) ?? null))),
  );
  const failed: FailedPart[] = [];
  if (!exits.length) return failed;
  const byId = new Map(events.map((event) => [event.id, event]));
  for (let afterId = 0; ;) {
    const page = await findRunsToExit(context.database, context.organization.id, exits, afterId, pageSize);
    await pMap(
      page,
      async ({ id, event_id: eventId }) => {
        const reason = toExitReason(byId.get(eventId)!);
        try {
          await endRun(context, id, { state: 'completed', outcome: 'exited', exitEventId: eventId }, reason);
        } catch (error) {
          const ending = { state: 'completed', outcome: 'exited', error: null, exitEventId: eventId } as const;
          failed.push({ message: buildEndMessage(context, id, ending, reason), error });
        }
      },
      { concurrency: maxConcurrentExits },
    );
    if (page.length < pageSize) return failed;
    afterId = page.at(-1)!.id;
  }
}

const toExitReason = (event: Pick<RunEvent, 'id' | 'type'>): string => `event ${event.type} (id ${event.id}) ended the run by exit_on`;

function findExits(context: Context, event: RunEvent, topic: ExitTopic, contact: ContactRecord | null): ExitTarget[] {
  const now = context.clock();
  const scope = buildCauseScope(context, toEventCause(event, contact), now);
  try {
    return parseSettings(topic.settings).exit_on.flatMap((rule) => {
      const subject = matchExitRule(rule, event, scope, now);
      return subject ? [{ event_id: event.id, event_at: event.createdAt, workflow_id: topic.workflow_id, ...subject }] : [];
    });
  } catch (error) {
    // A journey whose rules cannot be evaluated would fail again; the other journeys go on.
    context.log.error('exit_on could not be evaluated', { workflow_id: topic.workflow_id, error: (error as Error).message });
    return [];
  }
}
