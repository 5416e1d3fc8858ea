import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fuseRanks } from '../../src/knowledge-base/search/rank-fusion.ts';

const list = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 40 });
const idsOf = (fused: { id: number }[]) => fused.map(({ id }) => id);

test('each chunk comes once, with its rank in each list', () => {
  fc.assert(
    fc.property(list, list, (byVector, byKeyword) => {
      const fused = fuseRanks(byVector, byKeyword);
      expect(new Set(idsOf(fused))).toEqual(new Set([...byVector, ...byKeyword]));
      expect(fused.length).toBe(new Set(idsOf(fused)).size);
      for (const { id, vector_rank, keyword_rank } of fused)
        expect([vector_rank, keyword_rank]).toEqual([byVector.indexOf(id) + 1 || null, byKeyword.indexOf(id) + 1 || null]);
    }),
  );
});

test('one list alone keeps its order', () => {
  fc.assert(
    fc.property(list, (ids) => {
      expect(idsOf(fuseRanks(ids, []))).toEqual(ids);
      expect(idsOf(fuseRanks([], ids))).toEqual(ids);
    }),
  );
});

test('a chunk that is higher in both lists comes first', () => {
  fc.assert(
    fc.property(list, list, (byVector, byKeyword) => {
      const order = idsOf(fuseRanks(byVector, byKeyword));
      const place = (ids: number[], id: number) => (ids.includes(id) ? ids.indexOf(id) : Infinity);
      for (const one of order)
        for (const other of order)
          if (place(byVector, one) < place(byVector, other) && place(byKeyword, one) < place(byKeyword, other))
            expect(order.indexOf(one)).toBeLessThan(order.indexOf(other));
    }),
    { numRuns: 50 },
  );
});

test('what both lists know comes before what one of them puts first', () => {
  expect(idsOf(fuseRanks([1, 2, 3], [4, 3, 5]))).toEqual([3, 1, 4, 2, 5]);
});
