import type { Database, Statement } from '../../database/client.ts';
import type { automationWorkflow } from '../../database/schema/automation-workflows.ts';
import type { StoredRow } from '../../database/stored-row.ts';

/** A workflow's row: JSON columns are text, the secrets in them sealed. */
export type WorkflowRow = StoredRow<typeof automationWorkflow>;
export type WorkflowStatus = WorkflowRow['status'];

export const selectWorkflow = (database: Database, organizationId: number, id: number): Statement<WorkflowRow> =>
  database.prepare<WorkflowRow>('SELECT * FROM automation_workflow WHERE id = ? AND organization_id = ?', id, organizationId);

export async function findWorkflow(database: Database, organizationId: number, id: number): Promise<WorkflowRow | null> {
  return database.first<WorkflowRow>(selectWorkflow(database, organizationId, id));
}
