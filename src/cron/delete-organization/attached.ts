import type { Context } from '../../accounts/context.ts';
import type { Row } from '../../database/client.ts';
import { heldIndexes, writtenPlacement } from '../../knowledge-base/placement/placement.ts';
import { connectionBroker } from '../../providers/broker/composio.ts';
import { vectorIndexOf } from '../../providers/vector-index/vector-index.ts';
import { eraseObjects, type ObjectKind } from './objects.ts';
import type { Attached } from './rows.ts';

/** Objects of what has ended are gone by themselves within this time. */
const endedObjectMs = 3_600_000;

const objectsOf = (kind: ObjectKind, columns: string, mayLive: (row: Row, now: number) => boolean): Attached => ({
  columns,
  goes: (context, rows) =>
    eraseObjects(
      context,
      kind,
      rows.filter((row) => mayLive(row, context.clock())).map((row) => `${context.organization.id}/${row['id']}`),
    ),
});

/** What goes with the rows of a table. */
export const attachedTo: Readonly<Record<string, Attached>> = {
  // A failed run keeps its object, so that it can be tried again.
  automation_run: objectsOf('AUTOMATION_RUN', 'completed_at, state', (row, now) => {
    const endedAt = row['completed_at'] as number | null;
    return endedAt === null || row['state'] === 'failed' || endedAt > now - endedObjectMs;
  }),
  voice_agent_run: objectsOf(
    'CALL',
    'is_completed, created_at',
    (row, now) => row['is_completed'] !== 1 || (row['created_at'] as number) > now - 24 * endedObjectMs,
  ),
  campaign: objectsOf('CAMPAIGN', 'organization_id', () => true),
  test_session: objectsOf('TEST_SESSION', 'organization_id', () => true),
  load_test: objectsOf('LOAD_TEST', 'organization_id', () => true),
  knowledge_chunk: { columns: 'document_id', goes: removeVectors },
  integration: { columns: 'account_id, disconnected_at', goes: endGrants },
};

async function removeVectors(context: Context, rows: Row[]): Promise<void> {
  const ids = rows.map((row) => row['id'] as number);
  for (const name of heldIndexes(await writtenPlacement(context)))
    await vectorIndexOf(context.bindings, name, context.organization.id).remove(ids);
}

/** A broker that cannot be asked holds up nothing: without the service nobody uses the grant, and the log names it. */
async function endGrants(context: Context, rows: Row[]): Promise<void> {
  const broker = connectionBroker(context.settings);
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
