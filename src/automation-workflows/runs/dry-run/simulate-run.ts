import { addExact, parseDuration } from '../../../library/time/durations.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import { isLive } from '../../run-states.ts';
import type { Scope } from '../../../expressions/templates/render.ts';
import { matchExitRule } from '../exits/exit-rules.ts';
import { advance } from '../engine/interpreter.ts';
import type { Journal } from '../engine/journal.ts';
import { endProgress, nextWakeAt, type Progress } from '../engine/progress.ts';
import type { RunDependencies } from '../engine/dependencies.ts';
import { deliverEvent } from '../waits/wake.ts';
import type { RunEvent } from '../cause.ts';

/** An event of the run's contact during a dry run; `after` is an ISO 8601 duration from the run's start. */
export interface SimulatedEvent {
  event_type: string;
  data: Record<string, unknown>;
  after: string;
}

/** The contact of a simulated run, and the events that happen during the run. */
export interface Simulation {
  contactId: number | null;
  events: SimulatedEvent[];
  /** The scope of `exit_on` rules, without the event. */
  scope(): Scope;
}

/** Simulates a run to its end. The clock jumps to the end of each wait, or to an event before that. */
export async function simulateRun(
  journal: Journal,
  run: RunDependencies,
  simulation: Simulation,
  setClock: (now: number) => void,
): Promise<void> {
  const startedAt = run.now();
  const upcoming = simulation.events
    .map((event, index) => ({ ...event, id: -1 - index, at: addExact(startedAt, parseDuration(event.after, { allowZero: true })) }))
    .toSorted((a, b) => a.at - b.at);
  const toRunEvent = (event: (typeof upcoming)[number]): RunEvent => ({
    id: event.id,
    type: event.event_type,
    contact_id: simulation.contactId,
    data: event.data,
    createdAt: event.at,
  });
  const past: RunEvent[] = [];
  const simulated: RunDependencies = {
    ...run,
    subscribe: async ({ events }, taken) => ({
      afterId: 0,
      found: past.filter((event) => events.types.includes(event.type) && event.createdAt >= events.since && !taken.includes(event.id)),
    }),
  };
  for (;;) {
    await advance(journal, simulated);
    const progress = journal.progress();
    const wakesAt = nextWakeAt(progress, run.deadline);
    if (!isLive(progress.state) || wakesAt === null) return;
    const next = upcoming[0];
    if (!next || next.at > Math.max(wakesAt, run.now())) {
      setClock(Math.max(run.now(), wakesAt));
      continue;
    }
    upcoming.shift();
    setClock(Math.max(run.now(), next.at));
    past.push(toRunEvent(next));
    await applyEvent(journal, progress, toRunEvent(next), simulated, simulation);
  }
}

/** Applies an event to a waiting run: ends the run by `exit_on`, or delivers the event to the wait. */
async function applyEvent(
  journal: Journal,
  progress: Progress,
  event: RunEvent,
  run: RunDependencies,
  simulation: Simulation,
): Promise<void> {
  const scope = {
    ...simulation.scope(),
    event: { id: event.id, type: event.type, data: event.data, created_at: toTimestamp(event.createdAt) },
    data: event.data,
  };
  const isExit = run.settings.exit_on.some((rule) => isExitEvent(rule, event, scope, run));
  if (!isExit) {
    if (progress.wait?.kind === 'event') await deliverEvent(journal, event, progress.wait.historyId, run);
    return;
  }
  const waiting = progress.wait && journal.entry(progress.wait.historyId);
  const now = run.now();
  journal.commit(
    endProgress(progress, { state: 'completed', outcome: 'exited' }, now),
    waiting ? { ...waiting, status: 'skipped', completedAt: now } : undefined,
  );
}

function isExitEvent(rule: RunDependencies['settings']['exit_on'][number], event: RunEvent, scope: Scope, run: RunDependencies): boolean {
  const subject = matchExitRule(rule, event, scope, run.now());
  if (!subject) return false;
  const entryKey = (scope['run'] as { entry_key?: string | null } | null)?.entry_key ?? null;
  return subject.entry_key === null || subject.entry_key === entryKey;
}
