import type { Row, Statement } from '../../database/client.ts';
import { upsertStatements } from './copy-rows.ts';
import { writeHeld, type MoveEnds } from './ends.ts';
import { lastTables, type MovedTable } from './moved-tables.ts';

/** Its ids are those of its shard: a row gets another id, and a message with the old one finds nothing. */
const renumbered = 'cleanup';

/** Copies what is copied when nothing is written any more, in one transaction. Repeatable. */
export async function copyLastTables(ends: MoveEnds): Promise<void> {
  const { source, target, organizationId } = ends;
  const found = await source.batch(
    lastTables.map(({ name, columns, key }) =>
      source.prepare(`SELECT ${columns.join(', ')} FROM ${name} WHERE organization_id = ? ORDER BY ${key.join(', ')}`, organizationId),
    ),
  );
  const replace = (table: MovedTable, rows: Row[]): Statement[] => {
    const inserted = table.name === renumbered ? { ...table, columns: table.columns.filter((column) => column !== 'id') } : table;
    return [
      target.prepare(`DELETE FROM ${table.name} WHERE organization_id = ?`, organizationId),
      ...(rows.length ? upsertStatements(target, inserted, rows, organizationId) : []),
    ];
  };
  await writeHeld(ends, target, [
    ...lastTables.flatMap((table, place) => replace(table, found[place] ?? [])),
    // The key of such a record has the old id. The tick finds the cleanup itself.
    target.prepare("DELETE FROM failed_message WHERE organization_id = ? AND key LIKE 'cleanup:%'", organizationId),
  ]);
}
