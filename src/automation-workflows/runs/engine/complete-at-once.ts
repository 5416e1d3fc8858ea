import pMap from 'p-map';
import type { Context } from '../../../context.ts';
import { isQueryBudgetSpent } from '../../../database/query-budget.ts';
import { yieldAfterWork } from '../../../library/limits/yield-to-event-loop.ts';
import { publish } from '../../../outbox/published-events.ts';
import { createLiveDependencies } from '../effects/live-dependencies.ts';
import { projectRuns, type RunFacts, type RunProjection } from '../store.ts';
import { archiveHistory, packHistory } from './history.ts';
import { advance } from './interpreter.ts';
import { MemoryJournal } from './memory-journal.ts';
import { deadlineOf, startProgress } from './progress.ts';
import { loadReadRun, toProjection, type LoadedRun } from './run-row.ts';

/** Longer work is left to the run's object, so that whoever starts the run is not held up. */
const maxSteps = 50;
const maxMilliseconds = 50;
/** From two minutes on the minute tick starts the object of a run that shows no progress. */
const maxAgeMs = 30_000;
const maxConcurrent = 4;

/** The runs that are completed, and the workflows whose held runs now have a place. */
interface CompletedRuns {
  ids: Set<number>;
  workflowsWithHeldRuns: number[];
}

/**
 * Completes runs whose steps only decide, without their objects: nothing is written before the end, since after a crash the object decides the same
 * from the row. The rows of all are one D1 batch. Runs that wait, have an effect or fail are not touched; their objects begin anew. `runs` must
 * have been inserted by this invocation, so that no object has begun them. Throws errors of D1; the runs are then to be started, too.
 */
export async function completeAtOnce(context: Context, runs: RunFacts[]): Promise<CompletedRuns> {
  const complete = async (facts: RunFacts) => {
    const completed = mayCompleteAtOnce(context, facts) ? await tryToDecide(context, facts) : null;
    await yieldAfterWork();
    return completed;
  };
  const completed = (await pMap(runs, complete, { concurrency: maxConcurrent })).filter((run) => run !== null);
  if (completed.length === 0) return { ids: new Set(), workflowsWithHeldRuns: [] };
  const results = await projectRuns(context.database, context.organization.id, completed);
  const heldRunsOf = ({ id }: { id: number }) => results.get(id)?.heldRuns ?? 0;
  if (completed.some(({ hasWebhookEndpoint }) => hasWebhookEndpoint))
    await publish(context, 'webhook_event.recorded', { type: 'run.completed' });
  return {
    ids: new Set(completed.map(({ id }) => id)),
    workflowsWithHeldRuns: [...new Set(completed.filter(heldRunsOf).map(({ workflowId }) => workflowId))],
  };
}

/** Whether nobody waits for the end of the run, and no event may have ended it before it began. */
function mayCompleteAtOnce(context: Context, { has_end_trigger, is_test, parent_run_id, created_at, ...row }: RunFacts): boolean {
  const isHeard = Boolean(has_end_trigger) && !is_test;
  const isNew = row.revision === 0 && row.state === 'queued' && row.hold === null && context.clock() - created_at < maxAgeMs;
  return isNew && !isHeard && parent_run_id === null && row.is_exitable === 0;
}

type CompletedRun = RunProjection & { id: number; workflowId: number; hasWebhookEndpoint: boolean };

async function tryToDecide(context: Context, facts: RunFacts): Promise<CompletedRun | null> {
  try {
    const loaded = await loadReadRun(context, facts);
    if (!loaded || loaded.missingPayload !== null || loaded.settings.max_active_runs !== null) return null;
    return await decide(context, loaded);
  } catch (error) {
    context.log.error('a run could not be completed at once; its object begins it', error, { run_id: facts.id });
    return null;
  }
}

/** Takes the steps of the run in memory; null when they do not end in a completed run. */
async function decide(context: Context, run: LoadedRun): Promise<CompletedRun | null> {
  const { clock, organization, bindings } = context;
  const { row, graph, origin } = run;
  const journal = new MemoryJournal(startProgress(graph, clock(), origin.event?.id ?? null));
  const dependencies = createLiveDependencies(context, run, deadlineOf(run, journal.progress()), { now: clock, random: Math.random });
  const startedAt = Date.now();
  const shouldYield = () => {
    const { nodeId, stepCount } = journal.progress();
    const { type } = graph.node(nodeId!);
    const onlyDecides = type.comesOutTheSame === true && type.isSideEffect !== true;
    return !onlyDecides || stepCount >= maxSteps || Date.now() - startedAt > maxMilliseconds || isQueryBudgetSpent();
  };
  await advance(journal, { ...dependencies, shouldYield });
  const progress = journal.progress();
  if (progress.state !== 'completed') return null;
  const { entries } = journal;
  const history = packHistory(entries);
  if (history === null)
    await archiveHistory(bindings.FILES, organization.id, row.id, entries.length, (offset, limit) => entries.slice(offset, offset + limit));
  const projection = await toProjection(context, row.id, progress, { revision: 1, wakeAt: null, history });
  return { ...projection, id: row.id, workflowId: row.workflow_id, hasWebhookEndpoint: Boolean(row.has_webhook_endpoint) };
}
