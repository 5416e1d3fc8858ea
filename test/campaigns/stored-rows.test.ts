import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readStoredSheet, writeStoredSheet } from '../../src/campaigns/source/workbook/stored-rows.ts';
import type { FileRecord } from '../../src/library/delimited-text/parse-records.ts';

const head = { sheet: 'Kunden "A"', sheets: ['Kunden "A"', 'Zwei'] };

async function store(batches: FileRecord[][]): Promise<Uint8Array> {
  async function* all() {
    yield* batches;
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of writeStoredSheet(head, all())) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks));
}

async function* inChunks(bytes: Uint8Array, size: number) {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

const cell = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '\n', '"', 'Grüße', '\ud800', '家'));
const record = fc.record(
  { file_row: fc.integer({ min: 1, max: 2 ** 20 }), cells: fc.array(cell, { maxLength: 5 }), problem: fc.string() },
  { requiredKeys: ['file_row', 'cells'] },
);

test('rows are read as they were stored, wherever their bytes are cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(record, { maxLength: 4 }), { maxLength: 4 }),
      fc.integer({ min: 1, max: 40 }),
      async (batches, size) => {
        const stored = await readStoredSheet(inChunks(await store(batches), size));
        const records: FileRecord[] = [];
        for await (const one of stored.records) records.push(one);
        expect(stored.head).toEqual(head);
        expect(records).toEqual(batches.flat());
      },
    ),
    { numRuns: 200 },
  );
});

test('the stored bytes are released where reading stops', async () => {
  const bytes = await store([Array.from({ length: 100 }, (_, index) => ({ file_row: index + 1, cells: ['x'.repeat(100)] }))]);
  let isReleased = false;
  async function* watched() {
    try {
      yield* inChunks(bytes, 64);
    } finally {
      isReleased = true;
    }
  }
  const { records } = await readStoredSheet(watched());
  await records.next();
  await records.return(undefined);
  expect(isReleased).toBe(true);
});
