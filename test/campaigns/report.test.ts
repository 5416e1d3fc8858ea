import { expect, test } from 'vitest';
import { listReportColumns, toLines, type ReportRow, type ReportUnit } from '../../src/campaigns/report/columns.ts';
import { formatTable } from '../../src/library/table-export/format-table.ts';
import { callRecord } from './call-records.ts';
import { readTableOf } from '../contacts/import-reading.ts';

const row = (change: Partial<ReportRow>): ReportRow => ({
  row_number: 1,
  phone: '+12123456001',
  contact_id: null,
  state: 'completed',
  outcome: 'completed',
  reason: null,
  attempts: 1,
  next_attempt_at: null,
  run_ids: [],
  variables: {},
  calls: [],
  ...change,
});

interface ReportOptions {
  unit?: ReportUnit;
  extractionNames?: string[];
}

async function reportOf(rows: ReportRow[], variableNames: string[], { unit = 'row', extractionNames = [] }: ReportOptions = {}) {
  async function* pages() {
    for (const one of rows) yield toLines([one], unit);
  }
  const columns = listReportColumns(unit, extractionNames, variableNames);
  let text = '';
  for await (const piece of formatTable('csv', { name: 'Rows', columns, pages: pages() })) text += String(piece);
  return text;
}

/** The columns of the row itself, and what came of its calls. */
const rowColumns = 'row_number,phone,contact_id,state,outcome,reason,attempts,next_attempt_at,run_ids';
const resultColumns =
  'disposition,summary,sentiment,answered_by,talk_seconds,' +
  'transferred_to,transfer_mode,transfer_is_fallback,transfer_state,transfer_answered_at,transfer_seconds,transfer_reason,' +
  'started_at,ended_at,cost_usd,run_url,transcript_url,recording_url';
const noResult = ',,,,0,,,,,,,,,,0,,,';
const fixedColumns = 27;

test('every row has its final state, its reason and its variables', async () => {
  const text = await reportOf(
    [
      row({ contact_id: 7, run_ids: [41, 42], attempts: 2, variables: { name: 'Bob "B"', city: 'Rome\nItaly' } }),
      row({
        row_number: 2,
        state: 'scheduled',
        outcome: 'busy',
        reason: 'busy: attempt 2 of 3 follows',
        next_attempt_at: Date.UTC(2026, 10, 23, 9),
        variables: { name: 'Zoë', city: '' },
      }),
      row({ row_number: 3, phone: 'not a phone', state: 'failed', outcome: null, reason: 'letters: "not a phone"', attempts: 0 }),
    ],
    ['name', 'city'],
  );
  expect(text).toBe(
    `\ufeff${rowColumns},${resultColumns},name,city\r\n` +
      `1,"'+12123456001",7,completed,completed,,2,,41 42,${noResult},"Bob ""B""","Rome\nItaly"\r\n` +
      `2,"'+12123456001",,scheduled,busy,busy: attempt 2 of 3 follows,1,2026-11-23T09:00:00.000Z,,${noResult},Zoë,\r\n` +
      `3,not a phone,,failed,,"letters: ""not a phone""",0,,,${noResult},,\r\n`,
  );
});

test('no cell is a formula', async () => {
  const formulas = ['=HYPERLINK("http://x")', '+1+1', '-2+3', '@SUM(A1)', '\t=1', '\r=1', '＝1'];
  const text = await reportOf(
    formulas.map((formula) => row({ phone: formula, reason: formula, variables: { note: formula } })),
    ['note'],
  );
  const { rows } = await readTableOf(text.replaceAll("'", '’'));
  expect(rows).toHaveLength(formulas.length);
  for (const { cells } of rows) for (const cell of [cells[1], cells[5], cells[fixedColumns]]) expect(cell).toMatch(/^’/);
});

test('a report reads back as the same rows', async () => {
  const variables = { name: 'Ann', formula: '=1+1', amount: '-5', zeros: '007', quote: 'say "hi", \'ok\'' };
  const names = Object.keys(variables);
  const { headers, rows } = await readTableOf(await reportOf([row({ variables })], names));
  expect(headers.slice(fixedColumns)).toEqual(names);
  expect(rows[0]?.cells[1]).toBe('+12123456001');
  expect(rows[0]?.cells.slice(fixedColumns)).toEqual(Object.values(variables));
});

test('values that are no text are JSON, missing ones empty, and names never clash with the columns of the report', async () => {
  const variables = { state: 'Texas', score: 4.5, tags: ['a', 'b'], vip: true, gone: null };
  const { headers, rows } = await readTableOf(await reportOf([row({ variables })], ['state', 'score', 'tags', 'vip', 'gone', 'toString']));
  expect(headers.slice(fixedColumns)).toEqual(['state_variable', 'score', 'tags', 'vip', 'gone', 'toString']);
  expect(rows[0]?.cells.slice(fixedColumns)).toEqual(['Texas', '4.5', '["a","b"]', 'true', '', '']);
});

test('a campaign without rows has a header', async () => {
  expect(await reportOf([], [])).toBe(`\ufeff${rowColumns},${resultColumns}\r\n`);
});

const talk = callRecord({
  id: 42,
  outcome: 'completed',
  disposition: 'interested',
  summary: 'She wants it',
  sentiment: 'positive',
  answered_by: 'person',
  extracted_variables: { day: 'Monday', seats: 2 },
  talk_seconds: 61,
  cost_usd: 0.004,
  started_at: '2026-11-23T09:05:00.000Z',
  ended_at: '2026-11-23T09:06:01.000Z',
  run_url: 'https://service.test/api/v1/workflow/3/runs/42',
  transcript_url: 'https://service.test/api/v1/workflow/3/runs/42/transcript',
});
const busy = callRecord({ id: 41, outcome: 'busy', reason: 'busy: the line was busy', ended_at: '2026-11-23T09:00:00.000Z' });
const calledTwice = row({
  run_ids: [41, 42],
  attempts: 2,
  calls: [
    { attempt: 1, call: busy },
    { attempt: 2, call: talk },
  ],
});

test('a row has what came of its calls in sum, and a column for each extracted variable', async () => {
  const { headers, rows } = await readTableOf(await reportOf([calledTwice], [], { extractionNames: ['day', 'seats', 'colour'] }));
  const cells = Object.fromEntries(headers.map((name, index) => [name, rows[0]!.cells[index]]));
  expect(cells).toMatchObject({
    disposition: 'interested',
    summary: 'She wants it',
    sentiment: 'positive',
    answered_by: 'person',
    talk_seconds: '61',
    started_at: '2026-11-23T09:05:00.000Z',
    ended_at: '2026-11-23T09:06:01.000Z',
    cost_usd: '0.004',
    run_url: talk.run_url,
    transcript_url: talk.transcript_url,
    day: 'Monday',
    seats: '2',
  });
  expect(cells['colour'] ?? '').toBe('');
});

test('a line for each attempt has what came of that call; a row without calls keeps its line with the reason', async () => {
  const never = row({ row_number: 2, state: 'skipped', outcome: null, reason: 'suppressed: asked', attempts: 0 });
  const { headers, rows } = await readTableOf(await reportOf([calledTwice, never], [], { unit: 'attempt', extractionNames: ['day'] }));
  const column = (name: string) => rows.map(({ cells }) => cells[headers.indexOf(name)] ?? '');
  expect(column('row_number')).toEqual(['1', '1', '2']);
  expect(column('attempt')).toEqual(['1', '2', '']);
  expect(column('run_id')).toEqual(['41', '42', '']);
  expect(column('outcome')).toEqual(['busy', 'completed', '']);
  expect(column('reason')).toEqual(['busy: the line was busy', '', 'suppressed: asked']);
  expect(column('disposition')).toEqual(['', 'interested', '']);
  expect(column('day')).toEqual(['', 'Monday', '']);
});

test('a variable that is extracted and one of the source with the same name have a column each', () => {
  const names = listReportColumns('row', ['city', 'summary'], ['city', 'city_variable']).map(({ name }) => name);
  expect(names.slice(fixedColumns)).toEqual(['city', 'summary_extracted', 'city_variable', 'city_variable_variable']);
  expect(new Set(names).size).toBe(names.length);
});
