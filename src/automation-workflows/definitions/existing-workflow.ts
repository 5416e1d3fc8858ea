import type { Context } from '../../context.ts';
import { notFound } from '../../library/errors.ts';
import { findWorkflow, type WorkflowRow } from './store.ts';

export async function existingWorkflow(context: Context, id: number): Promise<WorkflowRow> {
  const row = await findWorkflow(context.database, context.organization.id, id);
  if (!row) throw notFound('Automation workflow');
  return row;
}
