import { exportContentTypes, formatTable, type ExportFormat, type ExportTable } from '../../library/table-export/format-table.ts';
import type { Logger } from '../../library/platform/log.ts';
import { streamPieces } from './stream-text.ts';

/** A table as a download. `what` names it in the log when it breaks off, `fileName` has no extension. */
export function sendTable<Row>(
  log: Logger,
  { what, fileName, format, table }: { what: string; fileName: string; format: ExportFormat; table: ExportTable<Row> },
): Response {
  return new Response(streamPieces(log, what, formatTable(format, table)), {
    headers: {
      'Content-Type': exportContentTypes[format],
      'Content-Disposition': `attachment; filename="${fileName}.${format}"`,
    },
  });
}
