import type { z } from '@hono/zod-openapi';
import type { Context } from '../../../context.ts';
import { findContacts } from '../../../contacts/contacts/find-contacts.ts';
import { parseDefinition, Graph } from '../../definitions/definition.ts';
import type { Effects } from '../../nodes/contract.ts';
import type { ContactRecord } from '../../../contacts/contacts/records.ts';
import type { TestRunRecord } from '../schemas.ts';
import { parseSettings } from '../../definitions/settings.ts';
import type { WorkflowRow } from '../../definitions/store.ts';
import { archiveHistory, historyRecord } from '../engine/history.ts';
import { createLiveDependencies } from '../effects/live-dependencies.ts';
import { buildRunScope } from '../effects/step-context.ts';
import { MemoryJournal } from '../engine/memory-journal.ts';
import { startProgress, type Progress, deadlineOf } from '../engine/progress.ts';
import { toLiveRun, runRecord } from '../queries/records.ts';
import type { RunCandidate } from '../admission/candidate.ts';
import { recordRuns } from '../admission/record-runs.ts';
import { findRun } from '../store.ts';
import { simulateRun, type SimulatedEvent } from './simulate-run.ts';
import type { RunOrigin, DeliveryPayload } from '../cause.ts';
import { projectProgress } from '../engine/run-row.ts';

export type { SimulatedEvent };

/**
 * Simulates a run to its end without side effects. Side effects are recorded as `simulated`, and the clock jumps to the end of each wait or to
 * the next of the given events. The ended run and its history are stored like those of a test run. Throws errors of the platform.
 */
export async function dryRun(
  context: Context,
  workflow: WorkflowRow,
  candidate: RunCandidate,
  events: SimulatedEvent[],
  delivery: { webhook: DeliveryPayload; contact: ContactRecord | null } | null = null,
): Promise<z.infer<typeof TestRunRecord>> {
  const { stored } = await recordRuns(context, [candidate], { state: 'dry', allowInactive: true });
  const row = (await findRun(context.database, context.organization.id, stored[0]!.id))!;
  const settings = parseSettings(workflow.settings);
  const graph = new Graph(parseDefinition(JSON.parse(workflow.definition)));
  const origin: RunOrigin = {
    id: row.id,
    workflowId: workflow.id,
    workflowName: workflow.name,
    workflowVersion: workflow.version,
    // A contact that the delivery would create has no id yet.
    contactId: delivery?.contact?.id ?? candidate.contactId,
    entryKey: candidate.entryKey,
    depth: 0,
    isTest: true,
    createdAt: row.created_at,
    initialContext: candidate.initialContext,
    event: null,
    webhook: delivery?.webhook ?? null,
  };
  // No step changes the contact, so it is read once.
  const contact = delivery?.contact
    ? delivery.contact
    : origin.contactId === null
      ? null
      : ((await findContacts(context, [origin.contactId])).get(origin.contactId) ?? null);
  const journal = new MemoryJournal(startProgress(graph, context.clock()));
  let now = journal.progress().startedAt;
  const run = createLiveDependencies(context, { origin, graph, settings }, deadlineOf({ settings }, journal.progress()), {
    now: () => now,
    random: Math.random,
  });
  const effects = { ...run.effects, searchKnowledge: memoizeSearch(run.effects.searchKnowledge) };
  const scope = (progress: Progress) => buildRunScope(context, origin, progress, now, contact);
  await simulateRun(
    journal,
    { ...run, effects, dryRun: true, loadStepContext: async (progress) => ({ scope: scope(progress), isPaused: false }) },
    { contactId: origin.contactId, events, scope: () => scope(journal.progress()) },
    (to) => (now = to),
  );
  return storeTestedRun(context, row.id, journal, (live) => runRecord(row, candidate.initialContext, live));
}

/** With a simulated clock, a loop repeats the same search thousands of times within one request. */
function memoizeSearch(search: Effects['searchKnowledge']): Effects['searchKnowledge'] {
  const answers = new Map<string, ReturnType<typeof search>>();
  return (request) => {
    const key = JSON.stringify(request);
    const answer = answers.get(key) ?? search(request);
    answers.set(key, answer);
    return answer;
  };
}

/** Stores the result and the history of a dry run, and answers both. */
async function storeTestedRun(
  context: Context,
  id: number,
  journal: MemoryJournal,
  record: (live: Parameters<typeof runRecord>[2]) => ReturnType<typeof runRecord>,
): Promise<z.infer<typeof TestRunRecord>> {
  const { bindings, organization } = context;
  const progress = journal.progress();
  const { entries } = journal;
  await archiveHistory(bindings.FILES, organization.id, id, entries.length, (offset, limit) => entries.slice(offset, offset + limit));
  await projectProgress(context, id, progress, { revision: 1, wakeAt: null });
  return { ...record(toLiveRun(progress, progress.endedAt ?? 0)), history: entries.map(historyRecord) };
}
