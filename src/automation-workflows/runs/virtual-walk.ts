import { addExact, parseDuration } from '../../library/durations.ts';
import { toTimestamp } from '../../library/clock.ts';
import { isLive } from '../schemas.ts';
import type { Scope } from '../templates.ts';
import { exitOf } from '../triggers/exit-rules.ts';
import { advance } from './interpreter.ts';
import type { Journal } from './journal.ts';
import { end, wakeAt, type Progress } from './progress.ts';
import type { OfferedEvent, Surroundings } from './surroundings.ts';
import { offer } from './wake.ts';

/** An event of the run's contact that comes during a dry run; `after` is an ISO 8601 duration from the run's start. */
export interface GivenEvent {
  event_type: string;
  data: Record<string, unknown>;
  after: string;
}

/** What a virtual walk is told of the world: who the run is about, and what happens meanwhile. */
export interface World {
  contactId: number | null;
  events: GivenEvent[];
  /** What rules over events may read beside the event. */
  scope(): Scope;
}

/** Walks a run to its end, the clock jumping from one thing to the next: the end of a sleep, or an event that comes before it. */
export async function walkVirtually(journal: Journal, run: Surroundings, world: World, setClock: (now: number) => void): Promise<void> {
  const startedAt = run.now();
  const coming = world.events
    .map((event, index) => ({ ...event, id: -1 - index, at: addExact(startedAt, parseDuration(event.after, { allowZero: true })) }))
    .toSorted((a, b) => a.at - b.at);
  const offered = (event: (typeof coming)[number]): OfferedEvent => ({
    id: event.id,
    type: event.event_type,
    contact_id: world.contactId,
    data: event.data,
    createdAt: event.at,
  });
  const happened: OfferedEvent[] = [];
  const surroundings: Surroundings = {
    ...run,
    subscribe: async ({ events }, taken) => ({
      afterId: 0,
      found: happened.filter((event) => events.types.includes(event.type) && event.createdAt >= events.since && !taken.includes(event.id)),
    }),
  };
  for (;;) {
    await advance(journal, surroundings);
    const progress = journal.progress();
    const wakesAt = wakeAt(progress, run.deadline);
    if (!isLive(progress.state) || wakesAt === null) return;
    const next = coming[0];
    if (!next || next.at > Math.max(wakesAt, run.now())) {
      setClock(Math.max(run.now(), wakesAt));
      continue;
    }
    coming.shift();
    setClock(Math.max(run.now(), next.at));
    happened.push(offered(next));
    await hear(journal, progress, offered(next), surroundings, world);
  }
}

/** What an event does to a run that it reaches asleep. */
async function hear(journal: Journal, progress: Progress, event: OfferedEvent, run: Surroundings, world: World): Promise<void> {
  const scope = {
    ...world.scope(),
    event: { id: event.id, type: event.type, data: event.data, created_at: toTimestamp(event.createdAt) },
    data: event.data,
  };
  const isExit = run.settings.exit_on.some((rule) => exits(rule, event, scope, run));
  if (!isExit) {
    if (progress.wait?.kind === 'event') await offer(journal, event, progress.wait.historyId, run);
    return;
  }
  const sleeping = progress.wait && journal.entry(progress.wait.historyId);
  const now = run.now();
  journal.commit(
    end(progress, { state: 'completed', outcome: 'exited' }, now),
    sleeping ? { ...sleeping, status: 'skipped', completedAt: now } : undefined,
  );
}

function exits(rule: Surroundings['settings']['exit_on'][number], event: OfferedEvent, scope: Scope, run: Surroundings): boolean {
  const of = exitOf(rule, event, scope, run.now());
  if (!of) return false;
  const entryKey = (scope['run'] as { entry_key?: string | null } | null)?.entry_key ?? null;
  return of.entry_key === null || of.entry_key === entryKey;
}
