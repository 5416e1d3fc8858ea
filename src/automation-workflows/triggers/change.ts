import type { Context } from '../../accounts/context.ts';
import { conflict, notFound } from '../../library/errors.ts';
import { existingWorkflow } from '../workflows/existing.ts';
import { prepareTrigger } from './prepare.ts';
import * as store from './store.ts';
import { newTriggerUuid } from './trigger-uuid.ts';

export interface NewTriggerInput {
  type: store.TriggerType;
  name?: string | null | undefined;
  config: Record<string, unknown>;
}

export async function createTrigger(context: Context, workflowId: number, input: NewTriggerInput): Promise<store.TriggerRow> {
  const workflow = await existingWorkflow(context, workflowId);
  if (workflow.status === 'archived') throw conflict('The workflow is archived; restore it to draft before adding triggers');
  const prepared = await prepareTrigger(context, input.type, input.config, {}, ['body', 'config']);
  const statements = store.insertTriggerStatements(
    context.database,
    newTrigger(context, workflowId, input, prepared, false),
    context.clock(),
  );
  return (await context.database.batch(statements))[0]![0] as unknown as store.TriggerRow;
}

export function newTrigger(
  context: Context,
  workflowId: number,
  input: { type: store.TriggerType; name?: string | null | undefined },
  prepared: Awaited<ReturnType<typeof prepareTrigger>>,
  isPrimary: boolean,
): store.NewTrigger {
  return {
    uuid: newTriggerUuid(context.organization.id),
    organizationId: context.organization.id,
    workflowId,
    type: input.type,
    name: input.name || input.type,
    isPrimary,
    ...prepared,
  };
}

export interface TriggerPatch {
  name?: string | undefined;
  config?: Record<string, unknown> | undefined;
  state?: 'active' | 'paused' | undefined;
}

export async function patchTrigger(context: Context, id: number, patch: TriggerPatch): Promise<store.TriggerRow> {
  const row = await existingTrigger(context, id);
  if (row.state === 'archived') throw conflict('The trigger is archived; create another');
  const before = JSON.parse(row.config) as Record<string, unknown>;
  const prepared = await prepareTrigger(context, row.type, patch.config ?? before, before, ['body', 'config']);
  return apply(context, row, { name: patch.name ?? row.name, state: patch.state ?? row.state, ...prepared });
}

/** Archived, it never fires again, and its webhook answers 404. */
export async function archiveTrigger(context: Context, id: number): Promise<store.TriggerRow> {
  const row = await existingTrigger(context, id);
  if (row.state === 'archived') return row;
  return apply(context, row, { name: row.name, config: row.config, state: 'archived', nextFireAt: null, topics: [] });
}

async function apply(context: Context, row: store.TriggerRow, change: store.TriggerChange): Promise<store.TriggerRow> {
  const results = await context.database.batch(store.updateTriggerStatements(context.database, row, change, context.clock()));
  return results[0]![0] as unknown as store.TriggerRow;
}

export async function existingTrigger(context: Context, id: number): Promise<store.TriggerRow> {
  const row = await store.findTrigger(context.database, context.organization.id, id);
  if (!row) throw notFound('Trigger');
  return row;
}
