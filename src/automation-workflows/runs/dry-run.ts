import type { z } from '@hono/zod-openapi';
import type { Context } from '../../accounts/context.ts';
import { findContacts } from '../../contacts/find-contacts.ts';
import { parseDefinition } from '../definition.ts';
import type { Effects } from '../nodes/contract.ts';
import type { ContactRecord } from '../../contacts/records.ts';
import type { TestedRun } from '../schemas.ts';
import { settingsFrom } from '../settings.ts';
import type { WorkflowRow } from '../workflows/store.ts';
import { Graph } from './graph.ts';
import { archiveHistory, historyRecord } from './history.ts';
import { liveSurroundings } from './live-surroundings.ts';
import { MemoryJournal } from './memory-journal.ts';
import { deadlineOf } from './load-run.ts';
import { begin, type Progress } from './progress.ts';
import { projectProgress } from './project.ts';
import { liveRun, runRecord, type DeliveryPayload } from './records.ts';
import { scopeFor, type RunOrigin } from './scope-of-run.ts';
import type { Candidate } from './candidate.ts';
import { recordRuns } from './record.ts';
import { findRun } from './store.ts';
import { walkVirtually, type GivenEvent } from './virtual-walk.ts';

export type { GivenEvent };

/**
 * Walks a run to its end without changing anything: side effects are recorded as `simulated`, and the clock jumps over
 * waits to their ends or to the given events. The ended run and its history are kept like those of any test run.
 */
export async function dryRun(
  context: Context,
  workflow: WorkflowRow,
  candidate: Candidate,
  events: GivenEvent[],
  delivery: { webhook: DeliveryPayload; contact: ContactRecord | null } | null = null,
): Promise<z.infer<typeof TestedRun>> {
  const { stored } = await recordRuns(context, [candidate], { state: 'dry', evenIfInactive: true });
  const row = (await findRun(context.database, context.organization.id, stored[0]!.id))!;
  const settings = settingsFrom(workflow.settings);
  const graph = new Graph(parseDefinition(JSON.parse(workflow.definition)));
  const origin: RunOrigin = {
    id: row.id,
    workflowId: workflow.id,
    workflowName: workflow.name,
    workflowVersion: workflow.version,
    // A contact that a delivery would create has no id yet.
    contactId: delivery?.contact?.id ?? candidate.contactId,
    entryKey: candidate.entryKey,
    depth: 0,
    isTest: true,
    createdAt: row.created_at,
    initialContext: candidate.initialContext,
    event: null,
    webhook: delivery?.webhook ?? null,
  };
  // Nothing changes the contact meanwhile, so it is read once.
  const contact = delivery?.contact
    ? delivery.contact
    : origin.contactId === null
      ? null
      : ((await findContacts(context, [origin.contactId])).get(origin.contactId) ?? null);
  const journal = new MemoryJournal(begin(graph, context.clock()));
  let now = journal.progress().startedAt;
  const run = liveSurroundings(context, { origin, graph, settings }, deadlineOf({ settings }, journal.progress()), {
    now: () => now,
    random: Math.random,
  });
  const effects = { ...run.effects, searchKnowledge: askingOnce(run.effects.searchKnowledge) };
  const scope = (progress: Progress) => scopeFor(context, origin, progress, now, contact);
  await walkVirtually(
    journal,
    { ...run, effects, dryRun: true, look: async (progress) => ({ scope: scope(progress), isPaused: false }) },
    { contactId: origin.contactId, events, scope: () => scope(journal.progress()) },
    (to) => (now = to),
  );
  return keepTested(context, row.id, journal, (live) => runRecord(row, candidate.initialContext, live));
}

/** On a clock that jumps, a loop comes to the same search thousands of times within one request. */
function askingOnce(search: Effects['searchKnowledge']): Effects['searchKnowledge'] {
  const answers = new Map<string, ReturnType<typeof search>>();
  return (asked) => {
    const name = JSON.stringify(asked);
    const answer = answers.get(name) ?? search(asked);
    answers.set(name, answer);
    return answer;
  };
}

/** Keeps what a dry run has come to, and tells it. */
async function keepTested(
  context: Context,
  id: number,
  journal: MemoryJournal,
  record: (live: Parameters<typeof runRecord>[2]) => ReturnType<typeof runRecord>,
): Promise<z.infer<typeof TestedRun>> {
  const { bindings, organization } = context;
  const progress = journal.progress();
  const { entries } = journal;
  await archiveHistory(bindings.FILES, organization.id, id, entries.length, (offset, limit) => entries.slice(offset, offset + limit));
  await projectProgress(context, id, progress, { revision: 1, wakeAt: null });
  return { ...record(liveRun(progress, progress.endedAt ?? 0)), history: entries.map(historyRecord) };
}
