import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeParts, newestFirst as mergeTables } from '../../../src/accounts/audit-log/merge-parts.ts';
import type { AuditPart, AuditRow } from '../../../src/accounts/audit-log/store.ts';
import type { CursorPosition } from '../../../src/http/pagination.ts';

interface Stored {
  at: number;
  id: number;
  matches: boolean;
}

const isAfter = (row: Stored, place: CursorPosition | null): boolean =>
  place === null || row.at < Number(place.value) || (row.at === Number(place.value) && row.id < place.id);

/** What a table answers: the matching entries among the newest `maxExamined` after a place. */
function partOf(table: Stored[], after: CursorPosition | null, limit: number, maxExamined: number): AuditPart {
  const examined = table.filter((row) => isAfter(row, after)).slice(0, maxExamined);
  const last = examined.length === maxExamined ? examined.at(-1)! : null;
  const rows = examined.filter(({ matches }) => matches).slice(0, limit + 1);
  return {
    rows: rows.map(({ at, id }) => ({ id, createdAt: at }) as AuditRow),
    lookedUntil: last && { value: last.at, id: last.id },
    count: 0,
    isCapped: false,
  };
}

const newestFirst = (rows: Stored[]): Stored[] => rows.toSorted((one, other) => other.at - one.at || other.id - one.id);

/** Entries of a table, whose ids are even or odd. Many share a moment. */
const anyTable = (parity: 0 | 1): fc.Arbitrary<Stored[]> =>
  fc
    .array(fc.record({ at: fc.integer({ min: 0, max: 6 }), matches: fc.boolean() }), { maxLength: 25 })
    .map((rows) => newestFirst(rows.map((row, index) => ({ ...row, id: index * 2 + parity }))));

test('pages of two tables have every matching entry once, newest first, however little a page looks at', () => {
  fc.assert(
    fc.property(
      anyTable(0),
      anyTable(1),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 7 }),
      (own, accounts, limit, maxExamined) => {
        const seen: number[] = [];
        let after: CursorPosition | null = null;
        for (let pages = 0; ; pages++) {
          expect(pages).toBeLessThan(120);
          const parts = [own, accounts].map((table) => partOf(table, after, limit, maxExamined));
          const { rows, next } = mergeParts(parts, limit);
          expect(rows.length).toBeLessThanOrEqual(limit);
          seen.push(...rows.map(({ id }) => id));
          if (next === null) break;
          after = next;
        }
        expect(seen).toEqual(
          newestFirst([...own, ...accounts])
            .filter(({ matches }) => matches)
            .map(({ id }) => id),
        );
      },
    ),
    { numRuns: 500 },
  );
});

/** A table as it is read: some rows at a time, in pieces of the sizes of `pieces`. */
async function* inPieces(rows: Stored[], pieces: number[]): AsyncGenerator<AuditRow[], undefined> {
  for (let start = 0, n = 0; start < rows.length; n++) {
    const size = pieces[n % pieces.length]!;
    yield rows.slice(start, start + size).map(({ at, id }) => ({ id, createdAt: at }) as AuditRow);
    start += size;
  }
}

test('two tables that are read in pieces of any size give every entry once, newest first', async () => {
  const anyPieces = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(anyTable(0), anyTable(1), anyPieces, anyPieces, async (own, accounts, ownPieces, accountPieces) => {
      const seen: number[] = [];
      for await (const rows of mergeTables([inPieces(own, ownPieces), inPieces(accounts, accountPieces)])) {
        expect(rows.length).toBeGreaterThan(0);
        seen.push(...rows.map(({ id }) => id));
      }
      expect(seen).toEqual(newestFirst([...own, ...accounts]).map(({ id }) => id));
    }),
    { numRuns: 500 },
  );
});
