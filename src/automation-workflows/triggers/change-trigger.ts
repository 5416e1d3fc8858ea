import type { Context } from '../../context.ts';
import { enforcePlanLimit } from '../../accounts/organizations/plan-limits.ts';
import { conflict, notFound } from '../../library/errors.ts';
import { retryOnConflict, compareAndSet } from '../../database/compare-and-set.ts';
import { existingWorkflow } from '../definitions/existing-workflow.ts';
import { toChangedConfig, toRequestedConfig } from './requested-config.ts';
import { toActivation, prepareTrigger, type PreparedTrigger } from './prepare-trigger.ts';
import type { TriggerType } from './configs.ts';
import * as store from './store.ts';
import { newTriggerUuid } from './trigger-uuid.ts';

export interface NewTriggerInput {
  type: TriggerType;
  name?: string | null | undefined;
  config?: Record<string, unknown> | null | undefined;
  /** Keys beside `config` are keys of the config. */
  [key: string]: unknown;
}

/** Adds a trigger to a workflow. Throws 404, 409 for an archived workflow or the plan's limit, and 422 for the config. */
export async function createTrigger(context: Context, workflowId: number, input: NewTriggerInput): Promise<store.TriggerRow> {
  const workflow = await existingWorkflow(context, workflowId);
  if (workflow.status === 'archived') throw conflict('The workflow is archived; restore it to draft before adding triggers');
  const prepared = await prepareTrigger(context, input.type, toRequestedConfig(input), {}, ['body', 'config']);
  const statements = store.insertTriggerStatements(
    context.database,
    context.organization,
    buildNewTrigger(context, workflowId, input, prepared, false),
    context.clock(),
  );
  const { database, organization } = context;
  // The statements after the first insert no rows with ids, so the last row id is the trigger's.
  const readBack = ({ rowId }: { rowId: number }) => database.batch([store.triggerStatement(database, organization.id, rowId)]);
  const [inserted] = await enforcePlanLimit(organization, () => database.batchOnce(statements, readBack));
  return inserted[0]!;
}

/** The row of a new trigger. `workflowId` null: the workflow that the same batch inserts. */
export function buildNewTrigger(
  context: Context,
  workflowId: number | null,
  input: { type: TriggerType; name?: string | null | undefined },
  prepared: PreparedTrigger,
  isPrimary: boolean,
): store.NewTrigger {
  return {
    uuid: newTriggerUuid(context.organization.id),
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
  /** Keys beside `config` change single keys of the config. */
  [key: string]: unknown;
}

/** Changes a trigger's name, config or state. Throws 404, 409 and 422. */
export async function patchTrigger(context: Context, id: number, patch: TriggerPatch): Promise<store.TriggerRow> {
  return changeTrigger(context, id, async (row) => {
    if (row.state === 'archived') throw conflict('The trigger is archived; create another');
    const before = JSON.parse(row.config) as Record<string, unknown>;
    // A config that the request does not give is not checked again: it may refer to deleted things, and pausing must still work.
    const config = toChangedConfig(patch, before);
    const prepared = config
      ? await prepareTrigger(context, row.type, config, before, ['body', 'config'])
      : { config: row.config, ...toActivation(row.type, before, context.clock()) };
    return { name: patch.name ?? row.name, state: patch.state ?? row.state, ...prepared };
  });
}

/** Archives a trigger: it never fires again, and its webhook answers 404. Throws 404. */
export const archiveTrigger = (context: Context, id: number): Promise<store.TriggerRow> =>
  changeTrigger(context, id, async (row) =>
    row.state === 'archived' ? null : { name: row.name, config: row.config, state: 'archived', nextFireAt: null, topics: [] },
  );

/** Writes the change that `change` computes from the current row; null: nothing changes. Throws 404, and 409 after too many conflicts. */
async function changeTrigger(
  context: Context,
  id: number,
  change: (row: store.TriggerRow) => Promise<store.TriggerChange | null>,
): Promise<store.TriggerRow> {
  const { database } = context;
  const changed = await retryOnConflict(async () => {
    const row = await existingTrigger(context, id);
    const next = await change(row);
    if (!next) return row;
    const [update, ...topics] = store.updateTriggerStatements(database, row, next, context.clock());
    const shown = row.is_primary ? [store.mirrorPrimaryTriggerStatement(database, row, next.state === 'archived' ? null : next)] : [];
    const rows = await compareAndSet(database, update, [...shown, ...topics], () =>
      store.triggerStatement(database, row.organization_id, row.id),
    );
    return rows && rows[0]!;
  });
  if (!changed) throw conflict('The trigger keeps being changed by other requests; try again');
  return changed;
}

/** The row of a trigger. Throws 404. */
export async function existingTrigger(context: Context, id: number): Promise<store.TriggerRow> {
  const row = await store.findTrigger(context.database, context.organization.id, id);
  if (!row) throw notFound('Trigger');
  return row;
}
