import type { Context } from '../../../context.ts';
import { notFound } from '../../../library/errors.ts';
import { parseHandling, type EventHandling, type Listed } from '../../../events/event-handling.ts';
import { readEventStatement, type HandledEvent } from '../../../events/read-event.ts';
import { failureStatement, givenUpPrefix, type RecordedFailure } from '../../../outbox/failed-messages.ts';
import * as store from './event-outcome-store.ts';

/** A trigger that started no run for an event. */
interface NotStarted {
  trigger_id: number | null;
  workflow_id: number | null;
  name: string | null;
  /** `filter`, `error`, `inactive`, or the name of the rule that refused the run. */
  rule: string;
  message: string;
}

export interface EventOutcome {
  event: HandledEvent;
  state: 'open' | 'handled' | 'given_up';
  /** The tries of an open event that has failed; null: it has not. */
  failure: RecordedFailure | null;
  started: store.OutcomeRun[];
  notStarted: NotStarted[];
  woken: Listed<store.OutcomeRun>;
  exited: Listed<store.OutcomeRun>;
}

/**
 * What an event started, and why other journeys that listen to its type did not start. Two calls to the database, whatever the event did. Throws
 * 404.
 */
export async function readEventOutcome({ database, organization }: Context, id: number): Promise<EventOutcome> {
  const affected = { eventId: id, limit: maxShownAffected };
  const [events, started, listeners, failures, woken, exited, counts] = await database.batch([
    readEventStatement(database, organization.id, id),
    store.startedRunsStatement(database, organization.id, `event:${id}`),
    store.listenersStatement(database, organization.id, id),
    failureStatement(database, organization.id, `event:${id}`),
    store.affectedRunsOfEvent(database, organization.id, { ...affected, effect: 'woken' }),
    store.affectedRunsOfEvent(database, organization.id, { ...affected, effect: 'exited' }),
    store.affectedRunCounts(database, organization.id, id),
  ]);
  const event = events[0];
  if (!event) throw notFound('Event');
  const handling = parseHandling(event.handling);
  const [runs, triggers] = await database.batch([
    store.runsByIdStatement(database, organization.id, [...handling.woken.first, ...handling.exited.first]),
    store.triggersOfOutcomeStatement(database, organization.id, namedTriggers(handling)),
  ]);
  const runsById = new Map(runs.map((run) => [run.id, run]));
  const startedBy = new Set(started.map((run) => run.trigger_id));
  return {
    event,
    state: stateOf(event),
    failure: failures[0] ?? null,
    started,
    notStarted: findNotStarted(event, handling, { listeners, triggers }).filter(({ trigger_id }) => !startedBy.has(trigger_id)),
    woken: joinRuns({ count: counts[0]!.woken, first: woken }, toRuns(handling.woken, runsById)),
    exited: joinRuns({ count: counts[0]!.exited, first: exited }, toRuns(handling.exited, runsById)),
  };
}

const stateOf = ({ handled_at, note }: HandledEvent): EventOutcome['state'] =>
  note?.startsWith(givenUpPrefix) ? 'given_up' : handled_at === null ? 'open' : 'handled';

const namedTriggers = ({ filtered, failed, refused }: EventHandling): number[] => [
  ...new Set([
    ...filtered.first,
    ...failed.first.map(({ trigger_id }) => trigger_id),
    ...refused.first.flatMap(({ trigger_id }) => trigger_id ?? []),
  ]),
];

/** How many runs that an event has woken or ended are named. */
const maxShownAffected = 50;

/** The recorded runs, and those of an event that an earlier version of the service has handled. */
function joinRuns(recorded: Listed<store.OutcomeRun>, earlier: Listed<store.OutcomeRun>): Listed<store.OutcomeRun> {
  const known = new Set(recorded.first.map(({ id }) => id));
  const more = earlier.first.filter(({ id }) => !known.has(id));
  return { count: Math.max(recorded.count, earlier.count), first: [...recorded.first, ...more].slice(0, maxShownAffected) };
}

/** The runs that still have a row. */
const toRuns = ({ count, first }: Listed<number>, runs: Map<number, store.OutcomeRun>): Listed<store.OutcomeRun> => ({
  count,
  first: first.flatMap((id) => runs.get(id) ?? []),
});

function findNotStarted(
  { handled_at: handledAt }: HandledEvent,
  { filtered, failed, refused }: EventHandling,
  { listeners, triggers }: { listeners: store.OutcomeTrigger[]; triggers: store.OutcomeTrigger[] },
): NotStarted[] {
  const known = new Map(triggers.map((trigger) => [trigger.id, trigger]));
  const toEntry = (id: number | null, rule: string, message: string, workflowId: number | null = null): NotStarted => {
    const trigger = id === null ? undefined : known.get(id);
    return { trigger_id: id, workflow_id: trigger?.workflow_id ?? workflowId, name: trigger?.name ?? null, rule, message };
  };
  const recorded = [
    ...filtered.first.map((id) => toEntry(id, 'filter', "The trigger's filter does not match")),
    ...failed.first.map(({ trigger_id, message }) => toEntry(trigger_id, 'error', message)),
    ...refused.first.map(({ trigger_id, workflow_id, rule, message }) => toEntry(trigger_id, rule, message, workflow_id)),
  ];
  const recordedIds = new Set(recorded.map(({ trigger_id }) => trigger_id));
  const inactive = listeners
    .filter(({ id, state, workflow_status }) => !recordedIds.has(id) && (state !== 'active' || workflow_status !== 'active'))
    .map(({ id, name, state, workflow_id, workflow_status }) => ({
      trigger_id: id,
      workflow_id,
      name,
      rule: 'inactive',
      message: state === 'active' ? `The journey is ${workflow_status} at present` : `The trigger is ${state} at present`,
    }));
  // An open event may still start a run of a trigger that is active by then.
  return handledAt === null ? recorded : [...recorded, ...inactive];
}
