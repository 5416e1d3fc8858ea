import type { Context } from '../../context.ts';
import { requireWithinLimit, enforcePlanLimit } from '../../accounts/organizations/plan-limits.ts';
import type { Statement } from '../../database/client.ts';
import { conflict, invalid } from '../../library/errors.ts';
import { enqueueAdmission, enqueueCleanup } from '../../outbox/enqueue.ts';
import { retryOnConflict } from '../../database/compare-and-set.ts';
import { exitTopicStatements } from '../runs/exits/store.ts';
import { exitEventTypes, hasExitRules, parseSettings } from '../definitions/settings.ts';
import { toNextFireAt } from '../triggers/prepare-trigger.ts';
import * as triggers from '../triggers/store.ts';
import { existingWorkflow } from '../definitions/existing-workflow.ts';
import { definitionIssues } from '../definitions/validate.ts';
import { prepareContextSchema, prepareDefinition, prepareSettings } from '../definitions/prepare.ts';
import { preparePrimaryTrigger } from './primary-trigger.ts';
import type { WorkflowRow, WorkflowStatus } from '../definitions/store.ts';
import * as store from './store.ts';

type JsonObject = Record<string, unknown>;

export interface WorkflowInput {
  name?: string | undefined;
  description?: string | null | undefined;
  definition?: JsonObject | null | undefined;
  trigger?: JsonObject | null | undefined;
  context_schema?: JsonObject | null | undefined;
  settings?: JsonObject | null | undefined;
  status?: WorkflowStatus | undefined;
}

const emptyDefinition = { nodes: [], edges: [] };

const transitions: Record<WorkflowStatus, readonly WorkflowStatus[]> = {
  draft: ['active', 'archived'],
  active: ['paused', 'archived'],
  paused: ['active', 'archived'],
  archived: ['draft'],
};

/** Throws 409 naming the current status and those that it can move to. */
function requireTransition(from: WorkflowStatus, to: WorkflowStatus): void {
  if (from === to || transitions[from].includes(to)) return;
  throw conflict(`The workflow is ${from} and cannot become ${to}; from ${from} it can become ${transitions[from].join(' or ')}`);
}

/** Creates a draft with its first version and its primary trigger. Throws 422 for invalid input, 409 at the plan's limit. */
export async function createWorkflow(context: Context, input: WorkflowInput & { name: string }): Promise<WorkflowRow> {
  const trigger = await preparePrimaryTrigger(context, input.trigger ?? {}, { row: null, stored: '{}', workflowId: null });
  const settings = prepareSettings(input.settings ?? {});
  const exits = exitTopicStatements(context.database, context.organization.id, null, {
    before: [],
    after: exitEventTypes(parseSettings(settings)),
  });
  const fields = {
    name: input.name,
    description: input.description ?? '',
    definition: await prepareDefinition(context, input.definition ?? emptyDefinition, {}),
    trigger: trigger.stored,
    context_schema: prepareContextSchema(input.context_schema ?? {}),
    settings,
  };
  return enforcePlanLimit(context.organization, () =>
    store.insertWorkflow(context.database, context.organization, fields, context.clock(), [...trigger.statements, ...exits]),
  );
}

/**
 * Changes fields and the status. Activating checks the graph and arms the schedules in the same transaction; leaving `active` disarms them.
 * Throws 404, 409 for a status that cannot follow the current one, and 422.
 */
export async function patchWorkflow(context: Context, id: number, input: WorkflowInput): Promise<WorkflowRow> {
  const updated = await enforcePlanLimit(context.organization, () => retryOnConflict(() => tryPatch(context, id, input)));
  if (!updated) throw conflict('The workflow keeps being changed by other requests; try again');
  if (input.status !== undefined || input.settings !== undefined)
    for (const cleanup of await store.findPendingCleanups(context.database, context.organization.id, id)) enqueueCleanup(context, cleanup);
  if (updated.status === 'active' && updated.held_runs_count > 0) enqueueAdmission(context, id);
  return updated;
}

/** Archives the workflow and cancels its live runs. */
export const archiveWorkflow = (context: Context, id: number): Promise<WorkflowRow> => patchWorkflow(context, id, { status: 'archived' });

/** One attempt; null when another request changed the workflow or its triggers meanwhile. */
async function tryPatch(context: Context, id: number, input: WorkflowInput): Promise<WorkflowRow | null> {
  const { database, organization } = context;
  const row = await existingWorkflow(context, id);
  const status = input.status ?? row.status;
  requireTransition(row.status, status);
  const change = { ...(await changedFields(context, row, input)), status };
  const goesActive = status === 'active' && row.status !== 'active';
  if (goesActive || (change.definition !== undefined && (status === 'active' || status === 'paused'))) {
    const issues = await definitionIssues(context, JSON.parse(change.definition ?? row.definition));
    if (issues.length) throw invalid(issues);
  }
  const rows = await triggers.findWorkflowTriggers(database, id);
  // First, since it checks the number of changed rows of the statement before it.
  const also: Statement[] =
    row.status === 'archived' && status !== 'archived' ? [requireWithinLimit(database, organization, 'max_workflows')] : [];
  const now = context.clock();
  if (status !== row.status) also.push(triggers.setNextFiresStatement(database, id, status === 'active' ? nextFires(rows, now) : []));
  for (const kind of requiredCleanups(row, { ...row, ...change })) also.push(store.insertCleanup(database, organization.id, kind, id, now));
  if (change.settings !== undefined) {
    const types = { before: exitEventTypes(parseSettings(row.settings)), after: exitEventTypes(parseSettings(change.settings)) };
    also.push(...exitTopicStatements(database, organization.id, id, types));
  }
  if (input.trigger !== undefined) {
    const before = { row: rows.find((one) => one.is_primary) ?? null, stored: row.trigger, workflowId: id };
    const primary = await preparePrimaryTrigger(context, input.trigger ?? {}, before);
    change.trigger = primary.stored;
    also.push(...primary.statements);
  }
  return store.updateWorkflow(database, { row, triggers: rows }, change, now, also);
}

/** The cleanups of live runs that a change requires. */
function requiredCleanups(before: WorkflowRow, after: WorkflowRow): store.WorkflowCleanup[] {
  const [oldSettings, newSettings] = [parseSettings(before.settings), parseSettings(after.settings)];
  const needsMarks =
    (newSettings.one_live_run_per_key && !oldSettings.one_live_run_per_key) || (hasExitRules(newSettings) && !hasExitRules(oldSettings));
  return [
    ...(after.status === 'archived' && before.status !== 'archived' ? (['workflow_archived'] as const) : []),
    ...(after.status === 'active' && before.status === 'paused' ? (['workflow_resumed'] as const) : []),
    ...(needsMarks ? (['runs_marked'] as const) : []),
  ];
}

/** The fields of `input` as stored, apart from status and trigger. Throws 422. */
async function changedFields(context: Context, row: WorkflowRow, input: WorkflowInput): Promise<Partial<store.WorkflowFields>> {
  const change: Partial<store.WorkflowFields> = {};
  if (input.name !== undefined) change.name = input.name;
  if (input.description !== undefined) change.description = input.description ?? '';
  if (input.definition !== undefined)
    change.definition = await prepareDefinition(context, input.definition ?? emptyDefinition, JSON.parse(row.definition));
  if (input.context_schema !== undefined) change.context_schema = prepareContextSchema(input.context_schema ?? {});
  if (input.settings !== undefined)
    change.settings =
      input.settings === null ? prepareSettings({}) : prepareSettings(input.settings, JSON.parse(row.settings) as JsonObject);
  return change;
}

const nextFires = (rows: triggers.TriggerRow[], now: number) =>
  rows.flatMap((row) => {
    const next = row.state === 'active' ? toNextFireAt(row.type, JSON.parse(row.config), now) : null;
    return next === null ? [] : [{ id: row.id, next_fire_at: next }];
  });
