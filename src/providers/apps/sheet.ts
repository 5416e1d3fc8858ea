import { z } from 'zod';
import { systemRuntime } from '../http/runtime.ts';
import type { AppFailure } from '../broker/broker.ts';
import { appFailure } from '../broker/app-failure.ts';
import { createAppClient, type AppConnection } from './app-client.ts';
import { sheetUrl } from './sheet-address.ts';
import { cellRange, firstRowOf, rowRange } from './sheet-ranges.ts';
import { percentEncoded } from '../../library/text/clean-text.ts';

interface SpreadsheetFile {
  id: string;
  name: string;
  url: string;
  /** ISO 8601. */
  modifiedAt: string | null;
  /** In the bin, where the file can still be read. */
  isTrashed: boolean;
}

/** A grid of cells in a spreadsheet. */
export interface SheetTab {
  id: number;
  title: string;
  /** The rows of the grid, most of which may be empty. */
  rows: number;
  columns: number;
}

interface SheetRange {
  spreadsheetId: string;
  tab: string;
  fromRow: number;
  rows: number;
  /** How many columns are read; undefined: all. */
  columns?: number | undefined;
  plainColumns?: number[] | undefined;
  /** The row with the headers; undefined: the first. */
  headerRow?: number | undefined;
}

/** Google Sheets. Rows count from 1, columns from 0. Cells are text; a row ends with its last filled cell. */
export interface Sheet {
  /** A page of spreadsheets, the last changed first. `query`: a part of the name; empty: all. */
  search(query: {
    query: string;
    pageToken?: string | undefined;
    pageSize?: number | undefined;
  }): Promise<{ files: SpreadsheetFile[]; nextPageToken: string | null } | AppFailure>;
  file(spreadsheetId: string): Promise<{ file: SpreadsheetFile } | AppFailure>;
  /** The tabs in the order in which they are shown. */
  tabs(spreadsheetId: string): Promise<{ title: string; tabs: SheetTab[] } | AppFailure>;
  /** The cells of a row, by default the first. */
  headers(spreadsheetId: string, tab: string, row?: number): Promise<{ headers: string[] } | AppFailure>;
  /**
   * Reads rows of a tab; empty rows at its end are omitted. Cells are text as shown, except in `plainColumns`, where they are as stored: a
   * phone number that is stored as a number may be shown as 9.19877E+11. `headers` are of the same moment.
   */
  readRows(part: SheetRange): Promise<{ headers: string[]; rows: string[][] } | AppFailure>;
  /**
   * Appends rows below the table that begins in `headerRow`, as text: no value becomes a formula. `row`: the number of the first new row.
   */
  appendRows(rows: {
    spreadsheetId: string;
    tab: string;
    headerRow?: number | undefined;
    rows: string[][];
  }): Promise<{ row: number | null } | AppFailure>;
  updateCells(change: {
    spreadsheetId: string;
    tab: string;
    cells: { row: number; column: number; value: string }[];
  }): Promise<{ updated: number } | AppFailure>;
}

const drive = 'https://www.googleapis.com/drive/v3/files';
const sheets = 'https://sheets.googleapis.com/v4/spreadsheets';
/** The maximum of readings of rows while others move them; before the third there is a pause of up to this, before each later one twice as long. */
const maxReadings = 6;
const firstPauseMs = 250;
const fileFields = 'id,name,modifiedTime,webViewLink,trashed';
const sharedDriveOptions = { supportsAllDrives: 'true', includeItemsFromAllDrives: 'true' };

const File = z.object({
  id: z.string(),
  name: z.string(),
  modifiedTime: z.string().optional(),
  webViewLink: z.string().optional(),
  trashed: z.boolean().default(false),
});
const FilePage = z.object({ files: z.array(File), nextPageToken: z.string().optional() });
const Spreadsheet = z.object({
  properties: z.object({ title: z.string() }),
  sheets: z
    .array(
      z.object({
        properties: z.object({
          sheetId: z.int(),
          title: z.string(),
          index: z.int(),
          gridProperties: z.object({ rowCount: z.int(), columnCount: z.int() }).optional(),
        }),
      }),
    )
    .default([]),
});
/** An empty range has no values at all. */
const Values = z.object({ values: z.array(z.array(z.unknown())).default([]) });
const ManyValues = z.object({ valueRanges: z.array(Values) });
const Appended = z.object({ updates: z.object({ updatedRange: z.string() }) });
const Updated = z.object({ totalUpdatedCells: z.int().default(0) });

/** Google Sheets, API 4, and Drive, API 3, which finds its files (https://developers.google.com/workspace/sheets/api/reference/rest). */
export function sheet(connection: AppConnection): Sheet {
  const ask = createAppClient('sheet', connection);
  const { runtime = systemRuntime } = connection;

  /** Reads the cells of each range; `beyond`: a range is outside of the grid. */
  async function read(id: string, ranges: string[], valueRenderOption: 'FORMATTED_VALUE' | 'UNFORMATTED_VALUE') {
    const query = { ranges, majorDimension: 'ROWS', valueRenderOption };
    const answer = await ask({ method: 'GET', url: spreadsheetUrl(id, '/values:batchGet'), query }, ManyValues);
    if ('failure' in answer) return isBeyondGrid(answer) ? 'beyond' : answer;
    const cells = answer.data.valueRanges.map(({ values }) => values);
    return cells.length === ranges.length ? { cells, isOneMoment: true } : readOneByOne(id, ranges, valueRenderOption);
  }

  /** Reads the ranges one by one, for a proxy that drops a repeated parameter. Cells may change between the requests. */
  async function readOneByOne(id: string, ranges: string[], valueRenderOption: string) {
    const cells: unknown[][][] = [];
    for (const range of ranges) {
      const query = { majorDimension: 'ROWS', valueRenderOption };
      const answer = await ask({ method: 'GET', url: spreadsheetUrl(id, `/values/${percentEncoded(range)}`), query }, Values);
      if ('failure' in answer) return isBeyondGrid(answer) ? 'beyond' : answer;
      cells.push(answer.data.values);
    }
    return { cells, isOneMoment: false };
  }

  async function readHeaders(id: string, tab: string, headerRow = 1) {
    const url = spreadsheetUrl(id, `/values/${percentEncoded(rowRange(tab, headerRow))}`);
    const answer = await ask({ method: 'GET', url }, Values);
    return 'failure' in answer ? answer : { headers: (answer.data.values[0] ?? []).map(cellText) };
  }

  /** Reads the shown and the stored cells in two requests. `isSound`: the two results fit each other. */
  async function readPart(part: SheetRange) {
    const { spreadsheetId, tab, fromRow, columns, plainColumns = [], headerRow = 1 } = part;
    const lastRow = fromRow + part.rows - 1;
    const range = (first: number, last: number) => cellRange(tab, { row: fromRow, column: first }, { row: lastRow, column: last });
    const wanted = columns === undefined ? rowRange(tab, fromRow, lastRow) : range(0, columns - 1);
    const shown = await read(spreadsheetId, [rowRange(tab, headerRow), wanted], 'FORMATTED_VALUE');
    if (shown === 'beyond') {
      const alone = await readHeaders(spreadsheetId, tab, headerRow);
      return 'failure' in alone ? alone : { ...alone, rows: [], isSound: true };
    }
    if ('failure' in shown) return shown;
    const headers = (shown.cells[0]?.[0] ?? []).map(cellText);
    const rows = (shown.cells[1] ?? []).map((row) => row.map(cellText));
    if (plainColumns.length === 0 || rows.length === 0) return { headers, rows, isSound: shown.isOneMoment };
    const ranges = plainColumns.map((column) => range(column, column));
    const stored = await read(spreadsheetId, ranges, 'UNFORMATTED_VALUE');
    if (stored !== 'beyond' && 'failure' in stored) return stored;
    let isSound = shown.isOneMoment && (stored === 'beyond' || stored.isOneMoment);
    for (const [index, column] of plainColumns.entries())
      for (const [at, row] of rows.entries()) {
        const cell = stored === 'beyond' ? '' : (stored.cells[index]?.[at]?.[0] ?? '');
        // Stored text is also shown as such, unless the cell has a rare format.
        if (typeof cell === 'string' && cell !== (row[column] ?? '')) isSound = false;
        if (column < row.length) row[column] = cellText(cell);
      }
    return { headers, rows, isSound };
  }

  return {
    async search({ query, pageToken, pageSize = 50 }) {
      const named = query.trim() === '' ? '' : ` and name contains '${query.trim().replace(/[\\']/g, '\\$&')}'`;
      const answer = await ask(
        {
          method: 'GET',
          url: drive,
          query: {
            q: `mimeType='application/vnd.google-apps.spreadsheet' and trashed=false${named}`,
            orderBy: 'modifiedTime desc',
            pageSize: String(pageSize),
            fields: `nextPageToken,files(${fileFields})`,
            ...sharedDriveOptions,
            ...(pageToken && { pageToken }),
          },
        },
        FilePage,
      );
      if ('failure' in answer) return answer;
      return { files: answer.data.files.map(toSpreadsheetFile), nextPageToken: answer.data.nextPageToken ?? null };
    },

    async file(spreadsheetId) {
      const query = { fields: fileFields, supportsAllDrives: 'true' };
      const answer = await ask({ method: 'GET', url: `${drive}/${percentEncoded(spreadsheetId)}`, query }, File);
      return 'failure' in answer ? answer : { file: toSpreadsheetFile(answer.data) };
    },

    async tabs(spreadsheetId) {
      const query = { fields: 'spreadsheetId,properties.title,sheets.properties(sheetId,title,index,gridProperties)' };
      const answer = await ask({ method: 'GET', url: spreadsheetUrl(spreadsheetId), query }, Spreadsheet);
      if ('failure' in answer) return answer;
      const tabs = answer.data.sheets
        .map(({ properties }) => properties)
        .toSorted((one, other) => one.index - other.index)
        // A chart may have a tab of its own, which has no grid.
        .flatMap(({ sheetId: id, title, gridProperties: grid }) =>
          grid ? [{ id, title, rows: grid.rowCount, columns: grid.columnCount }] : [],
        );
      return { title: answer.data.properties.title, tabs };
    },

    headers: readHeaders,

    async readRows(part) {
      let before = '';
      for (let reading = 1; reading <= maxReadings; reading++) {
        if (reading > 2) await runtime.sleep(firstPauseMs * 2 ** (reading - 3) * (0.5 + runtime.random() / 2));
        const found = await readPart(part);
        if ('failure' in found) return found;
        const { isSound, ...cells } = found;
        const text = JSON.stringify(cells);
        if (isSound || text === before) return cells;
        before = text;
      }
      return appFailure('unavailable', 'sheet: rows keep being moved while they are read; try again');
    },

    async appendRows({ spreadsheetId, tab, headerRow = 1, rows }) {
      // Google appends to the table at this cell: one that stands below a title is another than that of the title.
      const range = cellRange(tab, { row: headerRow, column: 0 });
      const url = spreadsheetUrl(spreadsheetId, `/values/${percentEncoded(range)}:append`);
      const query = { valueInputOption: 'RAW', insertDataOption: 'INSERT_ROWS' };
      const body = { range, majorDimension: 'ROWS', values: rows };
      const answer = await ask({ method: 'POST', url, query, body }, Appended);
      return 'failure' in answer ? answer : { row: firstRowOf(answer.data.updates.updatedRange) ?? null };
    },

    async updateCells({ spreadsheetId, tab, cells }) {
      const data = cells.map((cell) => ({ range: cellRange(tab, cell), majorDimension: 'ROWS', values: [[cell.value]] }));
      const body = { valueInputOption: 'RAW', data };
      const url = spreadsheetUrl(spreadsheetId, '/values:batchUpdate');
      const answer = await ask({ method: 'POST', url, body, isRepeatable: true }, Updated);
      return 'failure' in answer ? answer : { updated: answer.data.totalUpdatedCells };
    },
  };
}

const spreadsheetUrl = (id: string, path = '') => `${sheets}/${percentEncoded(id)}${path}`;

const toSpreadsheetFile = ({ id, name, modifiedTime, webViewLink, trashed }: z.output<typeof File>): SpreadsheetFile => ({
  id,
  name,
  url: webViewLink ?? sheetUrl(id),
  modifiedAt: modifiedTime ?? null,
  isTrashed: trashed,
});

/** Whether a failure is about a range outside of the grid, which means that it has no cells. */
const isBeyondGrid = ({ failure, message }: AppFailure): boolean => failure === 'rejected' && /exceeds grid limits/i.test(message);

function cellText(cell: unknown): string {
  if (typeof cell === 'string') return cell;
  if (typeof cell === 'boolean') return cell ? 'TRUE' : 'FALSE';
  return typeof cell === 'number' ? String(cell) : '';
}
