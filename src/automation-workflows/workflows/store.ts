import { and, eq, inArray, isNull } from 'drizzle-orm';
import type { Organization } from '../../context.ts';
import { requireWithinLimit } from '../../accounts/organizations/plan-limits.ts';
import type { Database, Statement } from '../../database/client.ts';
import { nextTimestamp, compareAndSet } from '../../database/compare-and-set.ts';
import { automationWorkflow, type automationVersion } from '../../database/schema/automation-workflows.ts';
import { cleanup } from '../../database/schema/operations.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import type { PageResult, CursorPosition } from '../../http/pagination.ts';
import { countLimit, cutPage } from '../../http/pagination.ts';
import { selectWorkflow, type WorkflowRow, type WorkflowStatus } from '../definitions/store.ts';

export type WorkflowFields = Pick<WorkflowRow, 'name' | 'description' | 'definition' | 'trigger' | 'context_schema' | 'settings'>;

const insertVersionSql = `INSERT INTO automation_version (workflow_id, version, organization_id, definition, created_at)
  SELECT id, version, organization_id, definition, ?2 FROM automation_workflow WHERE id = ?1
  ON CONFLICT (workflow_id, version) DO NOTHING`;

/** Inserts a draft with its first version and, in the same transaction, the statements in `also`. */
export async function insertWorkflow(
  database: Database,
  organization: Pick<Organization, 'id' | 'plan'>,
  fields: WorkflowFields,
  now: number,
  also: Statement[],
): Promise<WorkflowRow> {
  const statements = [
    database.prepare<WorkflowRow>(
      `INSERT INTO automation_workflow (organization_id, name, description, version, status, definition, trigger, context_schema, settings, created_at)
       VALUES (?, ?, ?, 1, 'draft', ?, ?, ?, ?, ?) RETURNING *`,
      organization.id,
      fields.name,
      fields.description,
      fields.definition,
      fields.trigger,
      fields.context_schema,
      fields.settings,
      now,
    ),
    requireWithinLimit(database, organization, 'max_workflows'),
    database.prepare(
      `INSERT INTO automation_version (workflow_id, version, organization_id, definition, created_at)
       SELECT id, version, organization_id, definition, created_at FROM automation_workflow WHERE id = last_insert_rowid()`,
    ),
    ...also,
  ] as const;
  const [inserted] = await database.batchOnce(
    statements,
    ({ rowId }) => database.batch([selectWorkflow(database, organization.id, rowId)]),
    2,
  );
  return inserted[0]!;
}

/**
 * Writes a change and the statements in `also` in one transaction. When the workflow or one of its triggers has changed since they were
 * read, nothing is written and the answer is null. A changed definition becomes the next version.
 */
export async function updateWorkflow(
  database: Database,
  { row, triggers }: { row: WorkflowRow; triggers: { id: number; updated_at: number }[] },
  change: Partial<WorkflowFields> & { status?: WorkflowStatus },
  clock: number,
  also: Statement[],
): Promise<WorkflowRow | null> {
  const next = { ...row, ...change };
  const isNewVersion = next.definition !== row.definition;
  const now = nextTimestamp(row.updated_at, clock);
  const rows = await compareAndSet(
    database,
    database.prepare<WorkflowRow>(
      `UPDATE automation_workflow SET name = ?, description = ?, definition = ?, trigger = ?, context_schema = ?, settings = ?, status = ?,
         version = version + ?, updated_at = ?
       WHERE id = ? AND organization_id = ? AND updated_at IS ? AND coalesce((SELECT group_concat(stamp) FROM (
         SELECT id || ':' || updated_at AS stamp FROM automation_trigger WHERE workflow_id = automation_workflow.id AND state <> 'archived' ORDER BY id
       )), '') = ? RETURNING *`,
      next.name,
      next.description,
      next.definition,
      next.trigger,
      next.context_schema,
      next.settings,
      next.status,
      isNewVersion ? 1 : 0,
      now,
      row.id,
      row.organization_id,
      row.updated_at,
      triggers.map(({ id, updated_at }) => `${id}:${updated_at}`).join(','),
    ),
    [...also, ...(isNewVersion ? [database.prepare(insertVersionSql, row.id, now)] : [])],
    () => selectWorkflow(database, row.organization_id, row.id),
  );
  return rows && rows[0]!;
}

export interface WorkflowFilter {
  status?: WorkflowStatus | undefined;
  search?: string | undefined;
}

/** Newest first; archived workflows only with that status in `filter`. The search reads all names: an organization has at most thousands. */
export async function listWorkflows(
  database: Database,
  organizationId: number,
  filter: WorkflowFilter,
  page: { limit: number; offset: number; after?: CursorPosition | undefined },
): Promise<PageResult<WorkflowRow>> {
  const statuses = filter.status ? [filter.status] : ['draft', 'active', 'paused'];
  const search = filter.search ? ' AND instr(lower(name), ?) > 0' : '';
  const searchParameters = filter.search ? [filter.search.toLowerCase()] : [];
  const where = `organization_id = ? AND status IN (SELECT value FROM json_each(?))${search}`;
  const parameters = [organizationId, JSON.stringify(statuses), ...searchParameters];
  const [rows, counted] = await database.batch([
    database.prepare<WorkflowRow>(
      `SELECT * FROM automation_workflow WHERE ${where} AND id < ? ORDER BY id DESC LIMIT ? OFFSET ?`,
      ...parameters,
      page.after?.id ?? Number.MAX_SAFE_INTEGER,
      page.limit + 1,
      page.offset,
    ),
    database.prepare<{ total: number }>(
      `SELECT count(*) AS total FROM (SELECT 1 FROM automation_workflow WHERE ${where} LIMIT ${countLimit})`,
      ...parameters,
    ),
  ]);
  return { ...cutPage(rows, page.limit, (row) => ({ value: null, id: row.id })), total: counted[0]!.total };
}

export type VersionRow = Pick<StoredRow<typeof automationVersion>, 'version' | 'definition' | 'created_at'>;

export async function listVersions(
  database: Database,
  workflowId: number,
  page: { limit: number; offset: number; after?: CursorPosition | undefined },
): Promise<PageResult<VersionRow>> {
  const [rows, newest] = await database.batch([
    database.prepare<VersionRow>(
      'SELECT version, definition, created_at FROM automation_version WHERE workflow_id = ? AND version < ? ORDER BY version DESC LIMIT ? OFFSET ?',
      workflowId,
      page.after?.id ?? Number.MAX_SAFE_INTEGER,
      page.limit + 1,
      page.offset,
    ),
    database.from<Pick<WorkflowRow, 'version'>>(
      database.orm.select({ version: automationWorkflow.version }).from(automationWorkflow).where(eq(automationWorkflow.id, workflowId)),
    ),
  ]);
  return { ...cutPage(rows, page.limit, (row) => ({ value: null, id: row.version })), total: newest[0]!.version };
}

/** Work on a workflow's live runs after a change: they are ended, they go on, or they are marked for the new settings. */
const workflowCleanups = ['workflow_archived', 'workflow_resumed', 'runs_marked'] as const;
export type WorkflowCleanup = (typeof workflowCleanups)[number];

export const insertCleanup = (
  database: Database,
  organizationId: number,
  kind: WorkflowCleanup,
  workflowId: number,
  now: number,
): Statement =>
  database.prepare(
    // Bounded by the newest run id, not by a clock: runs recorded before this statement are included, later ones are not.
    `INSERT INTO cleanup (organization_id, kind, subject_id, up_to_id, created_at)
     VALUES (?, ?, ?, (SELECT max(id) FROM automation_run), ?)`,
    organizationId,
    kind,
    workflowId,
    now,
  );

export async function findPendingCleanups(database: Database, organizationId: number, workflowId: number): Promise<number[]> {
  const { id, kind, subjectId, note, organizationId: owner } = cleanup;
  const rows = await database.run(() =>
    database.orm
      .select({ id })
      .from(cleanup)
      .where(and(eq(owner, organizationId), inArray(kind, [...workflowCleanups]), eq(subjectId, workflowId), isNull(note))),
  );
  return rows.map((row) => row.id);
}
