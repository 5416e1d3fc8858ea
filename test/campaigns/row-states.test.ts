import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { toRowCounts, emptyTally, isTerminal, canTransition, rowStates } from '../../src/campaigns/rows/row-states.ts';
import type { RowState } from '../../src/campaigns/rows/row-states.ts';

test('final states have no transition, and every other state leads to one', () => {
  const ends = rowStates.filter(isTerminal);
  expect(ends).toEqual(['completed', 'failed', 'skipped']);
  for (const end of ends) expect(rowStates.filter((to) => canTransition(end, to))).toEqual([]);
  for (const state of rowStates.filter((from) => !isTerminal(from))) {
    expect(ends.some((end) => canTransition(state, end))).toBe(true);
    expect(canTransition(state, state)).toBe(false);
  }
});

const statesBefore = (state: RowState): RowState[] => rowStates.filter((from) => canTransition(from, state));

test('no row is in a call without being dialled, and an answered row does not return to pending', () => {
  expect(statesBefore('in_call')).toEqual(['dialing']);
  expect(statesBefore('dialing')).toEqual(['pending', 'scheduled']);
  expect(statesBefore('skipped')).toEqual(['pending', 'scheduled', 'dialing']);
  expect(statesBefore('completed')).toEqual(['dialing', 'in_call']);
  expect(canTransition('in_call', 'pending')).toBe(false);
});

test('the counts add up at every moment, whatever the rows do', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(9), fc.nat(20)), { maxLength: 200 }), (steps) => {
      const rows = new Map<number, RowState>();
      const tally = emptyTally();
      for (const [row, choice] of steps) {
        const from = rows.get(row) ?? null;
        const open = from === null ? (['pending', 'failed', 'skipped'] as const) : rowStates.filter((to) => canTransition(from, to));
        const to = open[choice % Math.max(1, open.length)];
        if (to === undefined) continue;
        if (from !== null) tally[from] -= 1;
        tally[to] += 1;
        rows.set(row, to);

        const states = [...rows.values()];
        const number = (...wanted: RowState[]) => states.filter((state) => wanted.includes(state)).length;
        const counts = toRowCounts(tally);
        expect(counts).toEqual({
          total_rows: rows.size,
          processed_rows: number('completed', 'failed', 'skipped'),
          completed_rows: number('completed'),
          failed_rows: number('failed'),
          skipped_rows: number('skipped'),
          in_flight: number('dialing', 'in_call'),
        });
        expect(counts.completed_rows + counts.failed_rows + counts.skipped_rows).toBe(counts.processed_rows);
        expect(tally.pending + tally.scheduled + counts.in_flight + counts.processed_rows).toBe(counts.total_rows);
        expect(Math.min(...Object.values(tally))).toBeGreaterThanOrEqual(0);
      }
    }),
    { numRuns: 300 },
  );
});
