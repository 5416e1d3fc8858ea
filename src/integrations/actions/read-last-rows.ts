import type { AppFailure } from '../../providers/broker/broker.ts';
import { appFailure } from '../../providers/broker/app-failure.ts';
import type { SelectedSheet } from '../sheet/selected-sheet.ts';

const pageRows = 1_000;
const minRows = 200;
/** The search for the last row with content ends after this many pages of empty rows. */
const maxPages = 20;

/**
 * The last rows with content, at least 200 where the sheet has as many; `fromRow` is the number of the first. A grid has empty rows below
 * them, so it is read from its end.
 */
export async function readLastRows({
  adapter,
  spreadsheetId,
  tab,
  headerRow,
  columns,
}: SelectedSheet): Promise<{ fromRow: number; rows: string[][] } | AppFailure> {
  const read = async (fromRow: number, last: number) => {
    const part = { spreadsheetId, tab, headerRow, fromRow, rows: last - fromRow + 1, columns: columns.length };
    const outcome = await adapter.readRows(part);
    return 'failure' in outcome ? outcome : { fromRow, rows: outcome.rows };
  };
  const known = await adapter.tabs(spreadsheetId);
  if ('failure' in known) return known;
  const firstRow = headerRow + 1;
  let last = known.tabs.find(({ title }) => title === tab)?.rows ?? 1;
  for (let page = 0; page < maxPages && last >= firstRow; page++) {
    const found = await read(Math.max(firstRow, last - pageRows + 1), last);
    if ('failure' in found || found.rows.length >= minRows || found.fromRow === firstRow) return found;
    last = found.fromRow + found.rows.length - 1;
    if (found.rows.length > 0) return read(Math.max(firstRow, last - pageRows + 1), last);
  }
  return last >= firstRow ? appFailure('unavailable', `sheet: the last row of "${tab}" was not found`) : { fromRow: firstRow, rows: [] };
}
