import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readLastRows } from '../../src/integrations/actions/read-last-rows.ts';
import type { SelectedSheet } from '../../src/integrations/sheet/selected-sheet.ts';
import type { Sheet } from '../../src/providers/apps/sheet.ts';

/** A tab whose grid has so many rows, of which these (by number) hold something. */
function sheetWith(grid: number, filled: ReadonlySet<number>, headerRow = 1): { selected: SelectedSheet; reads: number[] } {
  const reads: number[] = [];
  const adapter: Partial<Sheet> = {
    tabs: async () => ({ title: 'File', tabs: [{ id: 0, title: 'Leads', rows: grid, columns: 26 }] }),
    readRows: async ({ fromRow, rows: count }) => {
      reads.push(count);
      const rows = Array.from({ length: count }, (_, index) => (filled.has(fromRow + index) ? [`row ${fromRow + index}`] : []));
      return { headers: ['Name'], rows: rows.slice(0, rows.findLastIndex((row) => row.length > 0) + 1) };
    },
  };
  const columns = [{ name: 'Name', isBlank: false }];
  return { selected: { adapter: adapter as Sheet, spreadsheetId: 'file', tab: 'Leads', headerRow, columns }, reads };
}

const upTo = (last: number) => new Set(Array.from({ length: last - 1 }, (_, index) => index + 2));

test('the rows at the end are those up to the last that holds something, each under its number', async () => {
  const grids = fc.integer({ min: 1, max: 6_000 }).chain((grid) =>
    fc.record({
      grid: fc.constant(grid),
      last: fc.integer({ min: 1, max: grid }),
      holes: fc.array(fc.integer({ min: 2, max: 6_000 }), { maxLength: 20 }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(grids, async ({ grid, last, holes }) => {
      const filled = upTo(last);
      for (const hole of holes) if (hole !== last) filled.delete(hole);
      const { selected, reads } = sheetWith(grid, filled);
      const found = await readLastRows(selected);
      if ('failure' in found) throw new Error(found.message);
      const end = Math.max(1, ...filled);
      expect(found.fromRow + found.rows.length - 1).toBe(end);
      for (const [index, row] of found.rows.entries()) {
        const number = found.fromRow + index;
        expect(row).toEqual(filled.has(number) ? [`row ${number}`] : []);
      }
      expect(found.rows.length).toBeGreaterThanOrEqual(Math.min(200, end - 1));
      for (const count of reads) expect(count).toBeLessThanOrEqual(1_000);
    }),
  );
});

test('the title and the header above the rows are none of them', async () => {
  const { selected } = sheetWith(100, new Set([1, 2, 3, 4, 5]), 3);
  expect(await readLastRows(selected)).toEqual({ fromRow: 4, rows: [['row 4'], ['row 5']] });
  expect(await readLastRows(sheetWith(3, new Set([1, 2, 3]), 3).selected)).toEqual({ fromRow: 4, rows: [] });
});

test('a sheet that ends in more empty rows than are searched is not taken for an empty one', async () => {
  const { selected, reads } = sheetWith(1_000_000, upTo(100));
  expect(await readLastRows(selected)).toMatchObject({ failure: 'unavailable' });
  expect(reads.length).toBeLessThanOrEqual(20);
});

test('a failure of the provider is handed on', async () => {
  const { selected } = sheetWith(100, upTo(50));
  const failing = { failure: 'rate_limited' as const, message: 'slowly', retryAfterSeconds: 3 };
  expect(await readLastRows({ ...selected, adapter: { ...selected.adapter, tabs: async () => failing } })).toEqual(failing);
  expect(await readLastRows({ ...selected, adapter: { ...selected.adapter, readRows: async () => failing } })).toEqual(failing);
});
