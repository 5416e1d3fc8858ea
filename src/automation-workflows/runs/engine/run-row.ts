import type { Context } from '../../../context.ts';
import { PayloadGoneError, resolvePayloads, storePayload } from '../../../database/payload.ts';
import { LRUCache } from 'lru-cache';
import { toTimestamp } from '../../../library/time/clock.ts';
import { parseDefinition, Graph } from '../../definitions/definition.ts';
import { parseSettings, type WorkflowSettings } from '../../definitions/settings.ts';
import { isInternalEventKey } from '../../internal-events.ts';
import { findRunFacts, type RunFacts, projectRuns, type ProjectionResult, type RunProjection } from '../store.ts';
import type { WriteTogether } from './shared-projections.ts';
import { type RunOrigin, initialContextOf, type DeliveryPayload } from '../cause.ts';
import { holdOf, type Progress } from './progress.ts';
import { toTrail } from './trail.ts';

/** A run's row with its graph, its settings and the data that it started with. */
export interface LoadedRun {
  row: RunFacts;
  /** Without a payload where the payload is missing. */
  origin: RunOrigin;
  /** Why no step can be taken: the payload that the run started from is missing. Null when the payload is there. */
  missingPayload: string | null;
  graph: Graph;
  settings: WorkflowSettings;
}

/** The graphs of versions, which never change, for all runs of the isolate. */
const graphs = new LRUCache<string, Graph>({ max: 200 });

/** Loads a run; null when there is no such run. One D1 call, and one read of R2 for a large payload. */
export async function loadRun(context: Context, id: number): Promise<LoadedRun | null> {
  const row = await findRunFacts(context.database, context.organization.id, id);
  if (!row) return null;
  const { definition, ...facts } = row;
  const graph = graphs.get(graphKey(facts)) ?? new Graph(parseDefinition(JSON.parse(definition)));
  graphs.set(graphKey(facts), graph);
  return toLoadedRun(context, facts, graph);
}

/** Loads a run whose row was just read; without a D1 call when the isolate knows the version of its workflow. */
export async function loadReadRun(context: Context, facts: RunFacts): Promise<LoadedRun | null> {
  const graph = graphs.get(graphKey(facts));
  return graph ? toLoadedRun(context, facts, graph) : loadRun(context, facts.id);
}

const graphKey = (row: RunFacts): string => `${row.organization_id}:${row.workflow_id}:${row.workflow_version}`;

async function toLoadedRun(context: Context, row: RunFacts, graph: Graph): Promise<LoadedRun> {
  const { missingPayload, payloads } = await resolvePayloads(context.bindings.FILES, [row.initial_context, row.source_payload]).then(
    (found) => ({ missingPayload: null, payloads: found }),
    (error: unknown) => {
      if (error instanceof PayloadGoneError) return { missingPayload: error.message, payloads: [{ event_type: '' }, null] };
      throw error;
    },
  );
  const [own, payload] = payloads;
  const settings = parseSettings(row.workflow_settings);
  const origin: RunOrigin = {
    id: row.id,
    workflowId: row.workflow_id,
    workflowName: row.workflow_name,
    workflowVersion: row.workflow_version,
    contactId: row.contact_id,
    entryKey: row.entry_key,
    depth: row.depth,
    isTest: Boolean(row.is_test),
    createdAt: row.created_at,
    initialContext: initialContextOf(row, own, payload),
    event: toStartEvent(row, own, payload),
    webhook: row.source === 'delivery' ? (payload as DeliveryPayload) : null,
  };
  return { row, origin, missingPayload, graph, settings };
}

/** The event that started the run: an event of the organization, or an internal event of the service; null: none. */
function toStartEvent(row: RunFacts, own: unknown, payload: unknown): RunOrigin['event'] {
  if (row.source === 'event' && row.event_type !== null)
    return { id: row.source_id!, type: row.event_type, data: payload, created_at: toTimestamp(row.event_created_at!) };
  if (row.source !== 'run' || !isInternalEventKey(row.dedup_key)) return null;
  return { id: null, type: String((own as Record<string, unknown>).event_type), data: own, created_at: toTimestamp(row.created_at) };
}

/** When a row is written: its revision, when the minute tick looks for the run (epoch ms; null: it has ended), and the history of an ended run if it is short. */
interface RowMoment {
  revision: number;
  wakeAt: number | null;
  history?: string | null;
}

/** The columns that show a run's progress. Large changes of the context go to R2. */
export async function toProjection(
  { bindings, organization }: Context,
  id: number,
  progress: Progress,
  { revision, wakeAt, history = null }: RowMoment,
): Promise<RunProjection> {
  const changes = JSON.stringify({ assigned: progress.assigned, outputs: progress.outputs });
  return {
    state: progress.state,
    currentNodeId: progress.nodeId,
    outcome: progress.outcome,
    error: progress.error && JSON.stringify(progress.error),
    trail: toTrail(progress),
    contextChanges: await storePayload(bindings.FILES, () => `${organization.id}/runs/${id}-${revision}`, changes),
    history,
    hold: holdOf(progress),
    voiceCallRunId: progress.voiceCallRunId ?? null,
    revision,
    wakeAt,
    startedAt: progress.startedAt,
    completedAt: progress.endedAt,
    leftWaits: progress.leftWaits ?? [],
    exitEventId: progress.exitEventId ?? null,
  };
}

/**
 * Writes a run's progress into its D1 row, deletes the `run_waiter` rows of waits that have ended, and records the events that ended them or the run. With `writeTogether`, the row is written with
 * those of other runs, if they take it.
 */
export async function projectProgress(
  context: Context,
  id: number,
  progress: Progress,
  moment: RowMoment,
  writeTogether?: WriteTogether | null,
): Promise<ProjectionResult> {
  const projection = await toProjection(context, id, progress, moment);
  // Whoever writes the others may have gone, or its answer be lost: the same row is written once more, which changes nothing.
  const result = await writeTogether?.(projection).catch(() => null);
  return result ?? (await projectRuns(context.database, context.organization.id, [{ id, ...projection }])).get(id) ?? noRow;
}

const noRow: ProjectionResult = { isAccepted: false, workflowStatus: null, heldRuns: 0 };
