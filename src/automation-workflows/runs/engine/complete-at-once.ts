import pMap from 'p-map';
import type { Context } from '../../../context.ts';
import { isQueryBudgetSpent } from '../../../database/query-budget.ts';
import { yieldAfterWork } from '../../../library/limits/yield-to-event-loop.ts';
import { publish } from '../../../outbox/published-events.ts';
import { openSecrets } from '../../../expressions/secrets/secrets.ts';
import { RecentFacts } from '../effects/recent-facts.ts';
import { loadStepContext } from '../effects/step-context.ts';
import { projectRuns, type RunFacts, type RunProjection } from '../store.ts';
import { archiveHistory, packHistory } from './history.ts';
import type { RunDependencies } from './dependencies.ts';
import { advance } from './interpreter.ts';
import { MemoryJournal } from './memory-journal.ts';
import { deadlineOf, startProgress } from './progress.ts';
import { loadReadRun, toProjection, type LoadedRun } from './run-row.ts';

/** A longer run is left to its object, and so are those of a batch that takes longer, so that whoever starts them is not held up. */
const maxSteps = 50;
const maxBatchMilliseconds = 2_000;
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
  const decideUntil = Date.now() + maxBatchMilliseconds;
  const complete = async (facts: RunFacts) => {
    const completed = mayCompleteAtOnce(context, facts) && Date.now() < decideUntil ? await tryToDecide(context, facts, decideUntil) : null;
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

async function tryToDecide(context: Context, facts: RunFacts, decideUntil: number): Promise<CompletedRun | null> {
  try {
    const loaded = await loadReadRun(context, facts);
    if (!loaded || loaded.missingPayload !== null || loaded.settings.max_active_runs !== null) return null;
    return await decide(context, loaded, decideUntil);
  } catch (error) {
    context.log.error('a run could not be completed at once; its object begins it', error, { run_id: facts.id });
    return null;
  }
}

/** Takes the steps of the run in memory; null when they do not end in a completed run. */
async function decide(context: Context, run: LoadedRun, decideUntil: number): Promise<CompletedRun | null> {
  const { organization, bindings } = context;
  const { row } = run;
  const journal = new MemoryJournal(startProgress(run.graph, context.clock(), run.origin.event?.id ?? null));
  await advance(journal, decidingDependencies(context, run, journal, decideUntil));
  const progress = journal.progress();
  if (progress.state !== 'completed') return null;
  const { entries } = journal;
  const history = packHistory(entries);
  if (history === null)
    await archiveHistory(bindings.FILES, organization.id, row.id, entries.length, (offset, limit) => entries.slice(offset, offset + limit));
  const projection = await toProjection(context, row.id, progress, { revision: 1, wakeAt: null, history });
  return { ...projection, id: row.id, workflowId: row.workflow_id, hasWebhookEndpoint: Boolean(row.has_webhook_endpoint) };
}

/** The dependencies of a run that stops before the first step that does more than decide, so that it has no effects and waits for nothing. */
function decidingDependencies(
  context: Context,
  { origin, graph, settings }: LoadedRun,
  journal: MemoryJournal,
  decideUntil: number,
): RunDependencies {
  const { organization, clock } = context;
  const stepRun = { origin, hasQuietHours: settings.quiet_hours !== null, recent: new RecentFacts(clock) };
  return {
    runId: origin.id,
    graph,
    settings,
    deadline: deadlineOf({ settings }, journal.progress()),
    organization: { default_country: organization.defaultCountry, timezone: organization.timezone },
    effects: new Proxy({} as RunDependencies['effects'], { get: never }),
    dryRun: false,
    now: clock,
    random: Math.random,
    loadStepContext: (progress, node) => loadStepContext(context, stepRun, progress, node, clock()),
    openSecrets: (data) => openSecrets(context.settings.ENCRYPTION_KEY, organization.id, data),
    subscribe: never,
    childResult: never,
    callResult: never,
    withdrawCall: never,
    shouldYield: () => {
      const { nodeId, stepCount } = journal.progress();
      const { type } = graph.node(nodeId!);
      const onlyDecides = type.comesOutTheSame === true && type.isSideEffect !== true;
      return !onlyDecides || stepCount >= maxSteps || Date.now() > decideUntil || isQueryBudgetSpent();
    },
  };
}

function never(): never {
  throw new Error('a run that only decides came to a step that does more');
}
