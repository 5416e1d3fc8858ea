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

/** An event of the run's contact that comes during a dry run; `after` is an ISO 8601 duration from the run's start. */
export interface SimulatedEvent {
  event_type: string;
  data: Record<string, unknown>;
  after: string;
}

/** What a virtual walk is told of the world: who the run is about, and what happens meanwhile. */
export interface Simulation {
  contactId: number | null;
  events: SimulatedEvent[];
  /** What rules over events may read beside the event. */
  scope(): Scope;
}

/** Walks a run to its end, the clock jumping from one thing to the next: the end of a sleep, or an event that comes before it. */
export async function simulateRun(
  journal: Journal,
  run: RunDependencies,
  world: Simulation,
  setClock: (now: number) => void,
): Promise<void> {
  const startedAt = run.now();
  const coming = world.events
    .map((event, index) => ({ ...event, id: -1 - index, at: addExact(startedAt, parseDuration(event.after, { allowZero: true })) }))
    .toSorted((a, b) => a.at - b.at);
  const offered = (event: (typeof coming)[number]): RunEvent => ({
    id: event.id,
    type: event.event_type,
    contact_id: world.contactId,
    data: event.data,
    createdAt: event.at,
  });
  const happened: RunEvent[] = [];
  const surroundings: RunDependencies = {
    ...run,
    subscribe: async ({ events }, taken) => ({
      afterId: 0,
      found: happened.filter((event) => events.types.includes(event.type) && event.createdAt >= events.since && !taken.includes(event.id)),
    }),
  };
  for (;;) {
    await advance(journal, surroundings);
    const progress = journal.progress();
    const wakesAt = nextWakeAt(progress, run.deadline);
    if (!isLive(progress.state) || wakesAt === null) return;
    const next = coming[0];
    if (!next || next.at > Math.max(wakesAt, run.now())) {
      setClock(Math.max(run.now(), wakesAt));
      continue;
    }
    coming.shift();
    setClock(Math.max(run.now(), next.at));
    happened.push(offered(next));
    await applyEvent(journal, progress, offered(next), surroundings, world);
  }
}

/** What an event does to a run that it reaches asleep. */
async function applyEvent(journal: Journal, progress: Progress, event: RunEvent, run: RunDependencies, world: Simulation): Promise<void> {
  const scope = {
    ...world.scope(),
    event: { id: event.id, type: event.type, data: event.data, created_at: toTimestamp(event.createdAt) },
    data: event.data,
  };
  const isExit = run.settings.exit_on.some((rule) => isExitEvent(rule, event, scope, run));
  if (!isExit) {
    if (progress.wait?.kind === 'event') await deliverEvent(journal, event, progress.wait.historyId, run);
    return;
  }
  const sleeping = progress.wait && journal.entry(progress.wait.historyId);
  const now = run.now();
  journal.commit(
    endProgress(progress, { state: 'completed', outcome: 'exited' }, now),
    sleeping ? { ...sleeping, status: 'skipped', completedAt: now } : undefined,
  );
}

function isExitEvent(rule: RunDependencies['settings']['exit_on'][number], event: RunEvent, scope: Scope, run: RunDependencies): boolean {
  const of = matchExitRule(rule, event, scope, run.now());
  if (!of) return false;
  const entryKey = (scope['run'] as { entry_key?: string | null } | null)?.entry_key ?? null;
  return of.entry_key === null || of.entry_key === entryKey;
}
