import { copyRows, type RowKey } from './copy-rows.ts';
import { writeHeld, type MoveEnds } from './ends.ts';
import { copiedTables } from './moved-tables.ts';

const changesPerPage = 1000;
const rowsPerCopy = 500;

/** Copies the oldest noted changes, each row as it is now, and forgets them. Returns how many there were. */
export async function replayChanges(ends: MoveEnds): Promise<number> {
  const { source, organizationId } = ends;
  const changes = await source.all(
    source.prepare<{ seq: number; kind: string; key: string }>(
      `SELECT seq, kind, key FROM transit_change WHERE subject_id = ? ORDER BY seq LIMIT ${changesPerPage}`,
      organizationId,
    ),
  );
  const last = changes.at(-1);
  if (!last) return 0;
  const byTable = Map.groupBy(changes, ({ kind }) => kind);
  for (const table of copiedTables) {
    const keys = [...new Set(byTable.get(table.name)?.map(({ key }) => key))].map((key) => JSON.parse(key) as RowKey);
    for (let start = 0; start < keys.length; start += rowsPerCopy) await copyRows(ends, table, keys.slice(start, start + rowsPerCopy));
  }
  await writeHeld(ends, source, [source.prepare('DELETE FROM transit_change WHERE subject_id = ? AND seq <= ?', organizationId, last.seq)]);
  return changes.length;
}

/** How many changes are noted, and how much of the organization's work would be cut through by the end of the move. */
export async function findRemaining({ source, organizationId }: MoveEnds): Promise<{ changes: number; pending: number }> {
  const [changes, pending] = await source.batch([
    source.prepare<{ count: number }>('SELECT count(*) AS count FROM transit_change WHERE subject_id = ?', organizationId),
    source.prepare<{ count: number }>(
      `SELECT (SELECT count(*) FROM contact_change WHERE organization_id = ?1) + (SELECT count(*) FROM cleanup WHERE organization_id = ?1)
         + (SELECT count(*) FROM event WHERE ${isAcceptedAfter('events_handled')})
         + (SELECT count(*) FROM webhook_delivery WHERE ${isAcceptedAfter('deliveries_handled')}) AS count`,
      organizationId,
    ),
  ]);
  return { changes: changes[0]!.count, pending: pending[0]!.count };
}

/** Accepted and unhandled rows of organization `?1` that the tick would find by its cursor. */
export const isAcceptedAfter = (cursor: 'events_handled' | 'deliveries_handled'): string =>
  `id > coalesce((SELECT value FROM progress WHERE name = '${cursor}'), 0) AND +organization_id = ?1 AND handled_at IS NULL`;
