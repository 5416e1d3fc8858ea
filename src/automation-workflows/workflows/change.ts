import type { Context } from '../../accounts/context.ts';
import type { Statement } from '../../database/client.ts';
import { conflict, invalid, invalidAt } from '../../library/errors.ts';
import { announceCleanup } from '../../queues/announce.ts';
import { newTrigger } from '../triggers/change.ts';
import { isTriggerType, triggerTypes } from '../triggers/configs.ts';
import { nextFireOf, prepareTrigger } from '../triggers/prepare.ts';
import * as triggers from '../triggers/store.ts';
import { existingWorkflow } from './existing.ts';
import { definitionIssues, prepareContextSchema, prepareDefinition, prepareSettings } from './prepare.ts';
import { requireMove } from './status-moves.ts';
import * as store from './store.ts';

type JsonObject = Record<string, unknown>;

export interface WorkflowInput {
  name?: string | undefined;
  description?: string | null | undefined;
  definition?: JsonObject | null | undefined;
  trigger?: JsonObject | null | undefined;
  context_schema?: JsonObject | null | undefined;
  settings?: JsonObject | null | undefined;
  status?: store.WorkflowStatus | undefined;
}

const emptyDefinition = { nodes: [], edges: [] };

export async function createWorkflow(context: Context, input: WorkflowInput & { name: string }): Promise<store.WorkflowRow> {
  const trigger = await preparePrimary(context, input.trigger ?? {}, null);
  const row = await store.insertWorkflow(
    context.database,
    context.organization.id,
    {
      name: input.name,
      description: input.description ?? '',
      definition: await prepareDefinition(context, input.definition ?? emptyDefinition, {}),
      trigger: trigger.stored,
      context_schema: prepareContextSchema(input.context_schema ?? {}),
      settings: prepareSettings(input.settings ?? {}),
    },
    context.clock(),
  );
  const statements = trigger.statements(row.id);
  if (statements.length) await context.database.batch(statements);
  return row;
}

/** Any fields, and the status. Going active checks the graph and arms the triggers in one step; leaving it silences them. */
export async function patchWorkflow(context: Context, id: number, input: WorkflowInput): Promise<store.WorkflowRow> {
  const row = await existingWorkflow(context, id);
  const status = input.status ?? row.status;
  requireMove(row.status, status);
  const change: Partial<store.WorkflowFields> & { status: store.WorkflowStatus } = { status };
  if (input.name !== undefined) change.name = input.name;
  if (input.description !== undefined) change.description = input.description ?? '';
  if (input.definition !== undefined)
    change.definition = await prepareDefinition(context, input.definition ?? emptyDefinition, JSON.parse(row.definition));
  if (input.context_schema !== undefined) change.context_schema = prepareContextSchema(input.context_schema ?? {});
  if (input.settings !== undefined) change.settings = prepareSettings(input.settings ?? {});
  const goesActive = status === 'active' && row.status !== 'active';
  if (goesActive || (change.definition !== undefined && (status === 'active' || status === 'paused'))) {
    const issues = definitionIssues(JSON.parse(change.definition ?? row.definition));
    if (issues.length) throw invalid(issues);
  }
  const rows = await triggers.triggersOfWorkflow(context.database, id);
  const primary =
    input.trigger === undefined ? null : await preparePrimary(context, input.trigger ?? {}, rows.find((one) => one.is_primary) ?? null);
  if (primary) change.trigger = primary.stored;
  const now = context.clock();
  const fires = status === 'active' ? nextFires(rows, now) : [];
  const updated = await store.updateWorkflow(context.database, row, change, now, (guard) => [
    ...(status === row.status ? [] : [triggers.setNextFires(context.database, id, fires, guard)]),
    ...(status === 'archived' && row.status !== 'archived'
      ? [store.cleanupStatement(context.database, row.organization_id, id, now, guard)]
      : []),
    ...(primary?.statements(id) ?? []),
  ]);
  if (!updated) throw conflict('The workflow was changed by another request at the same moment; read it again and repeat the change');
  return updated;
}

/** Archives the workflow; its live runs are cancelled. */
export async function archiveWorkflow(context: Context, id: number): Promise<store.WorkflowRow> {
  const row = await patchWorkflow(context, id, { status: 'archived' });
  for (const cleanup of await store.openCleanups(context.database, context.organization.id, id)) announceCleanup(context, cleanup);
  return row;
}

const nextFires = (rows: triggers.TriggerRow[], now: number) =>
  rows.flatMap((row) => {
    const next = row.state === 'active' ? nextFireOf(row.type, JSON.parse(row.config), now) : null;
    return next === null ? [] : [{ id: row.id, next_fire_at: next }];
  });

interface Primary {
  /** What the workflow row keeps of it: its secrets sealed. */
  stored: string;
  statements(workflowId: number): Statement[];
}

/** The `trigger` object of a workflow, when it has a `type`, is its primary trigger row: one mechanism, two ways in. */
async function preparePrimary(context: Context, given: JsonObject, row: triggers.TriggerRow | null): Promise<Primary> {
  const now = context.clock();
  const { type, name, config } = given;
  const archive = (old: triggers.TriggerRow) =>
    triggers.updateTriggerStatements(context.database, old, { ...old, state: 'archived', nextFireAt: null, topics: [] }, now);
  if (type === undefined || type === null) return { stored: JSON.stringify(given), statements: () => (row ? archive(row) : []) };
  if (!isTriggerType(type))
    throw invalidAt(
      ['body', 'trigger', 'type'],
      `Unknown trigger type ${JSON.stringify(type)}; use one of ${triggerTypes.join(', ')}`,
      'unknown_type',
    );
  if (name !== undefined && name !== null && typeof name !== 'string')
    throw invalidAt(['body', 'trigger', 'name'], 'Must be text', 'invalid_type');
  const isSame = row?.type === type;
  const prepared = await prepareTrigger(context, type, config ?? {}, isSame ? JSON.parse(row.config) : {}, ['body', 'trigger', 'config']);
  const stored = JSON.stringify({ ...given, config: JSON.parse(prepared.config) as unknown });
  const label = (name as string | null | undefined) ?? row?.name ?? type;
  if (isSame)
    return {
      stored,
      statements: () => triggers.updateTriggerStatements(context.database, row, { ...prepared, name: label, state: row.state }, now),
    };
  return {
    stored,
    statements: (workflowId) => [
      ...(row ? archive(row) : []),
      ...triggers.insertTriggerStatements(context.database, newTrigger(context, workflowId, { type, name: label }, prepared, true), now),
    ],
  };
}
