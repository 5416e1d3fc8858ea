import { extractText, getDocumentProxy } from 'unpdf';
import { expect, test } from 'vitest';
import { createReport, createReportWithPictures, createCsv } from '../../bench/documents.ts';
import { buildPassage, wrapText } from '../../bench/long-texts.ts';
import { createRandom } from '../support/vectors.ts';

const sentences = ['Deliveries come on Tuesday.', 'Somebody must be at home, or the order goes back.', 'It is 1.5 m wide.'];

const textOf = async (pdf: Uint8Array) => (await extractText(await getDocumentProxy(pdf))).text;

test('a report has as many pages as it should have, and each number makes another', async () => {
  const pages = await textOf(createReport(sentences, 3, 7));
  expect(pages).toHaveLength(3);
  expect(pages[2]).toMatch(/^Page 3 of report 7\s+(Deliveries|Somebody|It)/);
  expect((await textOf(createReport(sentences, 3, 8)))[0]).not.toBe(pages[0]);
});

test('a report with pictures says the same, and is about as large as it should be', async () => {
  const bytes = 3 << 20;
  const pdf = createReportWithPictures(sentences, 3, bytes);
  expect(pdf.length).toBeLessThanOrEqual(bytes);
  expect(pdf.length).toBeGreaterThan(bytes - (1 << 19));
  const document = await getDocumentProxy(pdf.slice());
  expect((await extractText(document)).text).toEqual(await textOf(createReport(sentences, 3, 0)));
});

test('a table is as large as it may be, and no larger', () => {
  const table = createCsv(sentences, 5000);
  expect(table.length).toBeLessThanOrEqual(5000);
  expect(table.length).toBeGreaterThan(4800);
  const rows = new TextDecoder().decode(table).split('\n');
  expect(rows[0]).toBe('order,customer,total,remark');
  for (const row of rows.slice(1)) expect(row).toMatch(/^A-\d{6},crm-\d+,\d+\.\d\d,"[^"]+"$/);
});

test('a passage has as many sentences as it takes, and lines are no wider than they may be', () => {
  const passage = buildPassage(sentences, 500, createRandom(1));
  expect(passage.length).toBeGreaterThanOrEqual(500 - 1);
  expect(passage.length).toBeLessThan(500 + 50);
  const lines = wrapText(passage, 40);
  expect(lines.join(' ')).toBe(passage);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);
  expect(wrapText('a verylongwordindeed b', 5)).toEqual(['a', 'verylongwordindeed', 'b']);
});
