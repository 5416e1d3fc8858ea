import { expect, test } from 'vitest';
import { formatReport, type ReportRow } from '../../src/campaigns/report/report.ts';
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
  ...change,
});

async function reportOf(rows: ReportRow[], variableNames: string[], pageRows = 1) {
  async function* pages() {
    for (let start = 0; start < rows.length; start += pageRows) yield rows.slice(start, start + pageRows);
  }
  let text = '';
  for await (const piece of formatReport(pages(), variableNames)) text += piece;
  return text;
}

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
    '\ufeffrow_number,phone,contact_id,state,outcome,reason,attempts,next_attempt_at,run_ids,name,city\r\n' +
      '1,"\'+12123456001",7,completed,completed,,2,,41 42,"Bob ""B""","Rome\nItaly"\r\n' +
      '2,"\'+12123456001",,scheduled,busy,busy: attempt 2 of 3 follows,1,2026-11-23T09:00:00.000Z,,Zoë,\r\n' +
      '3,not a phone,,failed,,"letters: ""not a phone""",0,,,,\r\n',
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
  for (const { cells } of rows) for (const cell of [cells[1], cells[5], cells[9]]) expect(cell).toMatch(/^’/);
});

test('a report reads back as the same rows', async () => {
  const variables = { name: 'Ann', formula: '=1+1', amount: '-5', zeros: '007', quote: 'say "hi", \'ok\'' };
  const names = Object.keys(variables);
  const { headers, rows } = await readTableOf(await reportOf([row({ variables })], names));
  expect(headers.slice(9)).toEqual(names);
  expect(rows[0]?.cells[1]).toBe('+12123456001');
  expect(rows[0]?.cells.slice(9)).toEqual(Object.values(variables));
});

test('values that are no text are JSON, missing ones empty, and names never clash with the columns of the report', async () => {
  const variables = { state: 'Texas', score: 4.5, tags: ['a', 'b'], vip: true, gone: null };
  const { headers, rows } = await readTableOf(await reportOf([row({ variables })], ['state', 'score', 'tags', 'vip', 'gone', 'toString']));
  expect(headers.slice(9)).toEqual(['state_variable', 'score', 'tags', 'vip', 'gone', 'toString']);
  expect(rows[0]?.cells.slice(9)).toEqual(['Texas', '4.5', '["a","b"]', 'true', '', '']);
});

test('a campaign without rows has a header', async () => {
  expect(await reportOf([], [])).toBe('\ufeffrow_number,phone,contact_id,state,outcome,reason,attempts,next_attempt_at,run_ids\r\n');
});
