import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { GoogleError, invalid } from '../google/errors.ts';
import { readBody, requireQuery, requireScope } from '../google/requests.ts';
import type { VendorBindings } from '../vendor.ts';
import { changeStructure, StructureChange } from './structure.ts';
import { spreadsheetOf, touch, type SheetFile } from './files.ts';
import { lastRowOf, readCells, writeCells } from './grid.ts';
import { parseRange, toA1Notation, type Range } from './ranges.ts';

const readScopes = ['spreadsheets', 'spreadsheets.readonly', 'drive', 'drive.readonly', 'drive.file'];
const writeScopes = ['spreadsheets', 'drive', 'drive.file'];
const reading = ['majorDimension', 'valueRenderOption', 'dateTimeRenderOption', 'fields'];
const writing = ['valueInputOption', 'insertDataOption', 'includeValuesInResponse', 'responseValueRenderOption', 'fields'];

const Values = z.array(z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])));
const ValueRange = z.strictObject({ range: z.string().optional(), majorDimension: z.literal('ROWS').optional(), values: Values });
const BatchUpdate = z.strictObject({
  valueInputOption: z.string().optional(),
  data: z.array(ValueRange.extend({ range: z.string() })),
  includeValuesInResponse: z.boolean().optional(),
});

/** Paths under `/v4/spreadsheets`. */
export function spreadsheetRoutes(filesOf: (customer: string) => SheetFile[]): Hono<{ Bindings: VendorBindings }> {
  const routes = new Hono<{ Bindings: VendorBindings }>();
  const open = (c: Context, scopes: string[], query: string[]) => {
    const { customer } = requireScope(c, ...scopes);
    requireQuery(c, query);
    return spreadsheetOf(filesOf(customer), c.req.param('id')!);
  };

  routes.get('/:id', (c) => {
    const file = open(c, readScopes, ['fields', 'includeGridData', 'ranges']);
    const sheets = file.tabs.map(({ id, title, rowCount, columnCount }, index) => ({
      properties: { sheetId: id, title, index, sheetType: 'GRID', gridProperties: { rowCount, columnCount } },
    }));
    return c.json({ spreadsheetId: file.id, properties: { title: file.name }, sheets });
  });
  routes.post('/:id{[^/:]+:batchUpdate}', async (c) => {
    const { customer } = requireScope(c, ...writeScopes);
    const file = spreadsheetOf(filesOf(customer), c.req.param('id').replace(/:batchUpdate$/, ''));
    const { requests } = await readBody(c.req.raw, z.strictObject({ requests: z.array(StructureChange).min(1) }));
    for (const request of requests) changeStructure(file, request);
    touch(file);
    return c.json({ spreadsheetId: file.id, replies: requests.map(() => ({})) });
  });

  routes.get('/:id/values:batchGet', (c) => {
    const file = open(c, readScopes, ['ranges', ...reading]);
    const ranges = c.req.queries('ranges') ?? [];
    const valueRanges = ranges.map((text) => valueRange(parseRange(text, file.tabs), c.req.query('valueRenderOption')));
    return c.json({ spreadsheetId: file.id, valueRanges });
  });
  routes.post('/:id/values:batchUpdate', async (c) => {
    const file = open(c, writeScopes, ['fields']);
    const { valueInputOption, data } = await readBody(c.req.raw, BatchUpdate);
    const input = inputOf(valueInputOption);
    const targets = data.map(({ range, values }) => ({ range: parseRange(range, file.tabs), values }));
    const counts = targets.map(({ range, values }) => writeCells(range.tab, range, values, input));
    touch(file);
    const totalUpdatedCells = counts.reduce((sum, { cells }) => sum + cells, 0);
    return c.json({ spreadsheetId: file.id, totalUpdatedCells, responses: targets.map(({ range }) => ({ updatedRange: range.text })) });
  });

  routes.get('/:id/values/:range', (c) => {
    const file = open(c, readScopes, reading);
    return c.json(valueRange(parseRange(c.req.param('range'), file.tabs), c.req.query('valueRenderOption')));
  });
  routes.put('/:id/values/:range', async (c) => {
    const file = open(c, writeScopes, writing);
    const range = parseRange(c.req.param('range'), file.tabs);
    const { values } = await readValues(c.req.raw, c.req.param('range'));
    const { cells, columns } = writeCells(range.tab, range, values, inputOf(c.req.query('valueInputOption')));
    touch(file);
    const updatedRange = spanOf(range, range.firstRow, values.length, columns);
    return c.json({ spreadsheetId: file.id, updatedRange, updatedRows: values.length, updatedColumns: columns, updatedCells: cells });
  });
  routes.post('/:id/values/:range{.+:append}', async (c) => {
    const file = open(c, writeScopes, writing);
    const named = c.req.param('range').replace(/:append$/, '');
    const { tab } = parseRange(named, file.tabs);
    const { values } = await readValues(c.req.raw, named);
    const input = inputOf(c.req.query('valueInputOption'));
    const last = lastRowOf(tab);
    tab.rowCount = Math.max(tab.rowCount, last + values.length);
    const whole = { ...parseRange(`'${tab.title.replaceAll("'", "''")}'`, file.tabs), firstRow: last + 1, lastRow: last + values.length };
    const { cells, columns } = writeCells(tab, whole, values, input);
    touch(file);
    const updatedRange = spanOf(whole, last + 1, values.length, columns);
    return c.json({
      spreadsheetId: file.id,
      ...(last > 0 && { tableRange: spanOf(whole, 1, last, tab.cells[0]?.length ?? 1) }),
      updates: { spreadsheetId: file.id, updatedRange, updatedRows: values.length, updatedColumns: columns, updatedCells: cells },
    });
  });
  return routes;
}

const spanOf = ({ tab, firstColumn }: Range, row: number, rows: number, columns: number): string =>
  toA1Notation(tab, row, row + Math.max(rows, 1) - 1, firstColumn, firstColumn + Math.max(columns, 1) - 1);

function valueRange(range: Range, render = 'FORMATTED_VALUE'): object {
  if (render !== 'FORMATTED_VALUE' && render !== 'UNFORMATTED_VALUE' && render !== 'FORMULA')
    throw invalid(`Invalid value at 'value_render_option': "${render}"`);
  const values = readCells(range.tab, range, render);
  return { range: range.text, majorDimension: 'ROWS', ...(values && { values }) };
}

function inputOf(option: string | undefined): 'RAW' | 'USER_ENTERED' {
  if (option === 'RAW' || option === 'USER_ENTERED') return option;
  throw invalid("'valueInputOption' is required but not specified");
}

/** The range in the body, where it is given, is that of the path. */
async function readValues(request: Request, range: string): Promise<z.output<typeof ValueRange>> {
  const body = await readBody(request, ValueRange);
  if (body.range === undefined || body.range === range) return body;
  throw new GoogleError(400, `Requested writing within range [${range}], but the body says [${body.range}]`);
}
