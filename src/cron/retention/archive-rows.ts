import pMap from 'p-map';
import { deleteFiles } from '../../database/delete-files.ts';
import type { Statement, Database } from '../../database/client.ts';
import { deleteArchived, registerArchives, type ArchivedPage, type FullRow } from './archive-store.ts';
import { retentionCutoff, type DaysSetting, type RetentionRule } from './rule.ts';
import { findOldRows, type RetainedTable } from './old-rows-store.ts';

interface ArchivedTable extends RetainedTable {
  setting: DaysSetting;
  /** The table has a column `contact_id`. */
  hasContact: boolean;
  /** Subtracts the deleted rows from a counter. `gone` is the text after FROM, with `?1` for `json`. */
  counters?: (database: Database, json: string, gone: string) => Statement;
  /** Keys of the R2 objects that are deleted with the row. */
  filesOf?: (row: FullRow) => string[];
}

const concurrency = 6;

/**
 * Moves rows whose retention time is over into files of the archive, one JSON object a line. A file is registered first, then written, and
 * then its rows are deleted: after a crash the page is done again.
 */
export function archiveRows(archived: ArchivedTable): RetentionRule {
  const { table, setting, filesOf, counters } = archived;
  return {
    table,
    setting,
    async removePage(run) {
      const { bindings, database, now } = run;
      const { rows, isLast } = await findOldRows(database, archived, retentionCutoff(run, setting));
      if (rows.length === 0) return !isLast;
      const pages = [...Map.groupBy(rows, (row) => row.organization_id)].map(([organizationId, own]): ArchivedPage => {
        const ids = own.map(({ id }) => id).toSorted((a, b) => a - b);
        return { organizationId, name: `archive/${organizationId}/${table}/${ids[0]}-${ids.at(-1)}.ndjson`, ids };
      });
      const full = Map.groupBy(await registerArchives(database, archived, pages, now), (row) => row.organization_id);
      const writePage = async ({ organizationId, name }: ArchivedPage) => {
        const lines = (full.get(organizationId) ?? []).map((row) => JSON.stringify(row));
        await bindings.FILES.put(name, lines.join('\n'), { httpMetadata: { contentType: 'application/x-ndjson' } });
      };
      await pMap(pages, writePage, { concurrency });
      const files = filesOf ? [...full.values()].flat().flatMap(filesOf) : [];
      await deleteFiles(bindings.FILES, files);
      await deleteArchived(database, archived, pages, counters);
      return true;
    },
  };
}
