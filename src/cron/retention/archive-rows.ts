import type { Statement, Database } from '../../database/client.ts';
import { deleteArchived, registerArchives, type ArchivedPage, type FullRow } from './archive-store.ts';
import { retentionCutoff, type DaysSetting, type RetentionRule } from './rule.ts';
import { findOldRows, type RetainedTable } from './old-rows-store.ts';

interface ArchivedTable extends RetainedTable {
  setting: DaysSetting;
  /** The table has a column `contact_id`. */
  hasContact: boolean;
  /** Takes the rows that go (`gone`: what follows FROM, with `?1` for `json`) off a counter. */
  counters?: (database: Database, json: string, gone: string) => Statement;
  /** Files that go with the row. */
  filesOf?: (row: FullRow) => string[];
}

const concurrency = 6;

/**
 * Moves rows that have been kept for long enough into files of the archive, one JSON a line. Each file is written down before it is written,
 * and rows are deleted after: a crash repeats the page.
 */
export function archiveRows(archived: ArchivedTable): RetentionRule {
  const { table, setting, filesOf, counters } = archived;
  return {
    table,
    setting,
    async removePage(sweeping) {
      const { bindings, database, now } = sweeping;
      const { rows, isLast } = await findOldRows(database, archived, retentionCutoff(sweeping, setting));
      if (rows.length === 0) return !isLast;
      const pages = [...Map.groupBy(rows, (row) => row.organization_id)].map(([organizationId, own]): ArchivedPage => {
        const ids = own.map(({ id }) => id).toSorted((a, b) => a - b);
        return { organizationId, name: `archive/${organizationId}/${table}/${ids[0]}-${ids.at(-1)}.ndjson`, ids };
      });
      const full = Map.groupBy(await registerArchives(database, archived, pages, now), (row) => row.organization_id);
      const waiting = [...pages];
      const worker = async () => {
        for (let page = waiting.shift(); page; page = waiting.shift()) {
          const lines = (full.get(page.organizationId) ?? []).map((row) => JSON.stringify(row));
          await bindings.FILES.put(page.name, lines.join('\n'), { httpMetadata: { contentType: 'application/x-ndjson' } });
        }
      };
      await Promise.all(Array.from({ length: Math.min(concurrency, pages.length) }, worker));
      const files = filesOf ? [...full.values()].flat().flatMap(filesOf) : [];
      for (let start = 0; start < files.length; start += 1000) await bindings.FILES.delete(files.slice(start, start + 1000));
      await deleteArchived(database, archived, pages, counters);
      return true;
    },
  };
}
