import type { Context } from '../../../context.ts';
import { findContacts } from '../../../contacts/contacts/find-contacts.ts';
import { resolvePayloads } from '../../../database/payload.ts';
import { conflict } from '../../../library/errors.ts';
import { childLineage, depthOf, maxLineageDepth } from '../../../library/lineage.ts';
import type { ChildRequest, ChildResult, ChildRun } from '../../nodes/contract.ts';
import { isLive } from '../../run-states.ts';
import { parseSettings } from '../../definitions/settings.ts';
import { existingWorkflow } from '../../definitions/existing-workflow.ts';
import { liveRunFromRow } from '../queries/records.ts';
import { startRuns } from '../admission/start-runs.ts';
import { findRun } from '../store.ts';
import { causeWithContext, buildCauseScope, renderEntryKey } from '../cause.ts';

/** The run whose step starts another run, or places a call. */
export interface ParentRun {
  id: number;
  workflowId: number;
  contactId: number | null;
  depth: number;
  /** Epoch ms. */
  createdAt: number;
}

/** Starts a run for a step of another run. The same `key` again answers the same run. Throws 404 and 409. */
export async function startChildRun(context: Context, parent: ParentRun, key: string, request: ChildRequest): Promise<ChildRun> {
  const workflow = await existingWorkflow(context, request.workflow_id);
  if (depthOf(parent.depth) >= maxLineageDepth)
    throw conflict(`Journeys may set off each other ${maxLineageDepth} deep; workflow ${workflow.id} was not started`);
  const contact = parent.contactId === null ? null : ((await findContacts(context, [parent.contactId])).get(parent.contactId) ?? null);
  const cause = causeWithContext(`step:${key}`, contact, request.context);
  const settings = parseSettings(workflow.settings);
  if (request.wait && workflow.id === parent.workflowId && settings.max_active_runs !== null)
    throw conflict(
      `Workflow ${workflow.id} has max_active_runs and would wait for itself: its run could be waiting for the turn that this one holds`,
    );
  const { stored, refused } = await startRuns(context, [
    {
      workflow: { id: workflow.id, version: workflow.version, contextSchema: workflow.context_schema, settings },
      triggerId: null,
      contactId: contact?.id ?? null,
      dedupKey: cause.key,
      entryKey: renderEntryKey(settings.entry_key, buildCauseScope(context, cause, context.clock()), contact?.id ?? null, null),
      source: 'run',
      sourceId: null,
      initialContext: request.context,
      depth: childLineage(parent),
      parentRunId: request.wait ? parent.id : undefined,
    },
  ]);
  const [run] = stored;
  if (!run) throw conflict(`Workflow ${workflow.id} was not started: ${refused[0]!.message}`);
  return { run_id: run.id, state: run.state };
}

/** The result of a run that another run waits for; null while it lives. A run without a row counts as cancelled. */
export async function loadChildResult(context: Context, runId: number): Promise<ChildResult | null> {
  const row = await findRun(context.database, context.organization.id, runId);
  if (!row) return { run_id: runId, state: 'cancelled', outcome: null, error: null, variables: {} };
  if (isLive(row.state)) return null;
  const [changes] = await resolvePayloads(context.bindings.FILES, [row.context_changes]);
  const live = liveRunFromRow(row, changes);
  const error = live.error && { node_id: live.error.node_id, message: live.error.message, type: live.error.type };
  return { run_id: runId, state: row.state, outcome: row.outcome, error, variables: live.changes.assigned };
}
