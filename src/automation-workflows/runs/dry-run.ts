import type { z } from '@hono/zod-openapi';
import type { Context } from '../../accounts/context.ts';
import { findContacts } from '../../contacts/find-contacts.ts';
import { storePayload } from '../../database/payload.ts';
import { addExact, parseDuration } from '../../library/durations.ts';
import { parseDefinition } from '../definition.ts';
import { isLive, type TestedRun } from '../schemas.ts';
import { openSecrets } from '../secrets.ts';
import { WorkflowSettings } from '../settings.ts';
import type { WorkflowRow } from '../workflows/store.ts';
import { runEffects } from './effects.ts';
import { Graph } from './graph.ts';
import { archiveHistory, historyRecord, type HistoryEntry } from './history.ts';
import { advance, type Journal } from './interpreter.ts';
import { begin, wakeAt, type Progress } from './progress.ts';
import { runRecord } from './records.ts';
import { scopeFor, type RunOrigin } from './scope-of-run.ts';
import { recordRuns, type Candidate } from './start.ts';
import { findRun, projectRun } from './store.ts';

/**
 * Walks a run to its end without performing anything: side effects are recorded as `simulated`, and the clock jumps over
 * waits. The ended run and its history are kept like those of any test run.
 */
export async function dryRun(context: Context, workflow: WorkflowRow, candidate: Candidate): Promise<z.infer<typeof TestedRun>> {
  const [stored] = await recordRuns(context, [candidate], { state: 'dry', evenIfInactive: true });
  const row = (await findRun(context.database, context.organization.id, stored!.id))!;
  const settings = WorkflowSettings.parse(JSON.parse(workflow.settings));
  const graph = new Graph(parseDefinition(JSON.parse(workflow.definition)));
  const origin: RunOrigin = {
    id: row.id,
    workflowId: workflow.id,
    workflowName: workflow.name,
    workflowVersion: workflow.version,
    contactId: candidate.contactId,
    entryKey: candidate.entryKey,
    depth: 0,
    isTest: true,
    createdAt: row.created_at,
    initialContext: candidate.initialContext,
    event: null,
    webhook: null,
  };
  // Nothing changes the contact meanwhile, so it is read once.
  const contact = origin.contactId === null ? null : ((await findContacts(context, [origin.contactId])).get(origin.contactId) ?? null);
  let now = context.clock();
  const journal = new MemoryJournal(begin(graph, now));
  const deadline = addExact(now, parseDuration(settings.timeout));
  const surroundings = {
    runId: row.id,
    graph,
    settings,
    deadline,
    organization: { default_country: context.organization.defaultCountry, timezone: context.organization.timezone },
    effects: runEffects(context, { contactId: candidate.contactId, depth: 0 }),
    dryRun: true,
    now: () => now,
    random: Math.random,
    scope: async (progress: Progress) => scopeFor(context, origin, progress, now, contact),
    open: (data: Record<string, unknown>) => openSecrets(context.settings.ENCRYPTION_KEY, context.organization.id, data),
    shouldYield: () => false,
  };
  while (isLive(journal.progress().state)) {
    await advance(journal, surroundings);
    now = Math.max(now, wakeAt(journal.progress(), deadline) ?? now);
  }
  const progress = journal.progress();
  const { entries } = journal;
  await archiveHistory(context.bindings.FILES, context.organization.id, row.id, entries.length, (offset, limit) =>
    entries.slice(offset, offset + limit),
  );
  const changes = { assigned: progress.assigned, outputs: progress.outputs };
  await projectRun(context.database, context.organization.id, row.id, {
    state: progress.state,
    currentNodeId: progress.nodeId,
    outcome: progress.outcome,
    error: progress.error && JSON.stringify(progress.error),
    contextChanges: await storePayload(
      context.bindings.FILES,
      () => `${context.organization.id}/runs/${row.id}-1`,
      JSON.stringify(changes),
    ),
    revision: 1,
    wakeAt: null,
    startedAt: progress.startedAt,
    completedAt: progress.endedAt,
  });
  const live = {
    state: progress.state,
    currentNodeId: progress.nodeId,
    outcome: progress.outcome,
    error: progress.error,
    changes,
    startedAt: progress.startedAt,
    endedAt: progress.endedAt,
  };
  return { ...runRecord(row, candidate.initialContext, live), history: entries.map(historyRecord) };
}

/** How much of inputs and outputs a journal in memory keeps. */
const keptLength = 8 * 1024 * 1024;
const leftOut = { _cut: 'left out: the history of this dry run is over 8 MiB' };

/** A dry run lives in one request, so its journal lives in memory. */
class MemoryJournal implements Journal {
  readonly entries: HistoryEntry[] = [];
  #progress: Progress;
  #left = keptLength;

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  progress(): Progress {
    return this.#progress;
  }

  commit(progress: Progress | ((recordId: number) => Progress), entry?: Omit<HistoryEntry, 'id'> & { id?: number | undefined }): number {
    const recordId = entry ? this.#write(entry) : 0;
    this.#progress = typeof progress === 'function' ? progress(recordId) : progress;
    return recordId;
  }

  #write(entry: Omit<HistoryEntry, 'id'> & { id?: number | undefined }): number {
    const id = entry.id ?? this.entries.length + 1;
    if (entry.id === undefined) this.#left -= JSON.stringify([entry.input, entry.output]).length;
    this.entries[id - 1] = this.#left < 0 ? { ...entry, id, input: leftOut, output: leftOut } : { ...entry, id };
    return id;
  }

  unfinished(): null {
    return null;
  }

  entry(id: number): HistoryEntry | null {
    return this.entries[id - 1] ?? null;
  }
}
