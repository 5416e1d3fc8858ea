import { and, eq } from 'drizzle-orm';
import type { Database, Statement } from '../../database/client.ts';
import { automationWorkflow } from '../../database/schema/automation-workflows.ts';
import type { StoredRow } from '../../database/stored-row.ts';

/** A workflow's row: JSON columns are text, the secrets in them sealed. */
export type WorkflowRow = StoredRow<typeof automationWorkflow>;
export type WorkflowStatus = WorkflowRow['status'];

export const selectWorkflow = (database: Database, organizationId: number, id: number): Statement<WorkflowRow> =>
  database.from<WorkflowRow>(
    database.orm
      .select()
      .from(automationWorkflow)
      .where(and(eq(automationWorkflow.id, id), eq(automationWorkflow.organizationId, organizationId))),
  );

export async function findWorkflow(database: Database, organizationId: number, id: number): Promise<WorkflowRow | null> {
  return database.first(selectWorkflow(database, organizationId, id));
}
