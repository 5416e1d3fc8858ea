import type { Context } from '../../context.ts';
import type { Row } from '../../database/client.ts';
import { indexesWithVectors, ensurePlacement } from '../../knowledge-base/placement/placement.ts';
import { createBroker } from '../../providers/broker/composio.ts';
import { getVectorIndex } from '../../providers/vector-index/get-vector-index.ts';
import { destroyObjects, type ObjectKind } from './objects.ts';
import type { RowDependents } from './rows.ts';

/** The object of an ended run, call or campaign has deleted itself within this time. */
const endedObjectTtlMs = 3_600_000;

const destroyObjectsOf = (kind: ObjectKind, columns: string, mayLive: (row: Row, now: number) => boolean): RowDependents => ({
  columns,
  remove: (context, rows) =>
    destroyObjects(
      context,
      kind,
      rows.filter((row) => mayLive(row, context.clock())).map((row) => `${context.organization.id}/${row['id']}`),
    ),
});

/** What is deleted with the rows of a table. */
export const dependentsByTable: Readonly<Record<string, RowDependents>> = {
  // A failed run keeps its object, so that it can be tried again.
  automation_run: destroyObjectsOf('AUTOMATION_RUN', 'completed_at, state', (row, now) => {
    const endedAt = row['completed_at'] as number | null;
    return endedAt === null || row['state'] === 'failed' || endedAt > now - endedObjectTtlMs;
  }),
  voice_agent_run: destroyObjectsOf(
    'CALL',
    'is_completed, created_at',
    (row, now) => row['is_completed'] !== 1 || (row['created_at'] as number) > now - 24 * endedObjectTtlMs,
  ),
  campaign: destroyObjectsOf('CAMPAIGN', 'organization_id', () => true),
  test_session: destroyObjectsOf('TEST_SESSION', 'organization_id', () => true),
  load_test: destroyObjectsOf('LOAD_TEST', 'organization_id', () => true),
  webhook_endpoint: destroyObjectsOf('WEBHOOK_ENDPOINT', 'organization_id', () => true),
  knowledge_chunk: { columns: 'document_id', remove: removeVectors },
  integration: { columns: 'account_id, disconnected_at', remove: revokeGrants },
};

async function removeVectors(context: Context, rows: Row[]): Promise<void> {
  const ids = rows.map((row) => row['id'] as number);
  for (const name of indexesWithVectors(await ensurePlacement(context)))
    await getVectorIndex(context.bindings, name, context.organization.id).remove(ids);
}

/** An unreachable broker does not stop the deletion: without the service nobody uses the grant, and the log names it. */
async function revokeGrants(context: Context, rows: Row[]): Promise<void> {
  const broker = createBroker(context.settings);
  for (const row of rows) {
    if (row['disconnected_at'] !== null) continue;
    const outcome = await broker.revoke(row['account_id'] as string);
    if ('failure' in outcome)
      context.log.warn('a grant of a deleted organization may still stand at the broker', {
        account_id: row['account_id'],
        failure: outcome.failure,
      });
  }
}
