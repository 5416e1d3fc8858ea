import type { Database, Statement } from '../../database/client.ts';
import { organizationMovedWords } from '../../database/transit.ts';
import { copiedTables, movedTables, type MovedTable } from './moved-tables.ts';

const events = ['insert', 'update', 'delete'] as const;
type TriggerEvent = (typeof events)[number];

const copied = new Set(copiedTables.map(({ name }) => name));

const triggerName = (organizationId: number, table: string, event: TriggerEvent) => `transit_${organizationId}_${table}_${event}`;

const keyOf = (table: MovedTable, row: string) => `json_array(${table.key.map((column) => `${row}.${column}`).join(', ')})`;

/**
 * The triggers of a table in the shard that an organization leaves. While the stage is `copying` they note each row that changes; later they
 * refuse the write. They look at the row first, so that other organizations pay for one comparison.
 */
function triggerSql(organizationId: number, table: MovedTable, event: TriggerEvent): string {
  const row = event === 'delete' ? 'OLD' : 'NEW';
  const note = (which: string, condition = '') =>
    copied.has(table.name)
      ? `INSERT INTO transit_change (subject_id, kind, key) SELECT ${organizationId}, '${table.name}', ${keyOf(table, which)} ${condition};`
      : '';
  // A row whose primary key changes is one row less and one more.
  const noteOld = event === 'update' ? note('OLD', `WHERE ${keyOf(table, 'OLD')} <> ${keyOf(table, 'NEW')}`) : '';
  return `CREATE TRIGGER IF NOT EXISTS ${triggerName(organizationId, table.name, event)} AFTER ${event.toUpperCase()} ON ${table.name}
    WHEN ${table.isOwn(row, String(organizationId))} BEGIN
      SELECT RAISE(ABORT, '${organizationMovedWords}') FROM transit WHERE subject_id = ${organizationId} AND stage <> 'copying';
      ${note(row)}
      ${noteOld}
    END`;
}

const tablesPerBatch = 30;

/** Whoever changes the list of tables changes what is installed: a move that is on is not told, and ends under the list it began with. */
async function inBatches(database: Database, statementsOf: (table: MovedTable) => string[]): Promise<void> {
  for (let start = 0; start < movedTables.length; start += tablesPerBatch) {
    const page = movedTables.slice(start, start + tablesPerBatch);
    const statements = page.flatMap((table) => statementsOf(table).map((sql): Statement => database.prepare(sql)));
    await database.batch(statements, 'idempotent');
  }
}

/** Repeatable. */
export const installTriggers = (database: Database, organizationId: number): Promise<void> =>
  inBatches(database, (table) => events.map((event) => triggerSql(organizationId, table, event)));

/** Repeatable. */
export const dropTriggers = (database: Database, organizationId: number): Promise<void> =>
  inBatches(database, ({ name }) => events.map((event) => `DROP TRIGGER IF EXISTS ${triggerName(organizationId, name, event)}`));
