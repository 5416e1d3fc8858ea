import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { historyRecord, packHistory, readPackedHistory, type HistoryEntry } from '../../src/automation-workflows/runs/engine/history.ts';

const moment = fc.integer({ min: 0, max: 4_000_000_000_000 });
const fields = fc.record({
  nodeId: fc.string({ maxLength: 20 }),
  nodeType: fc.constantFrom('trigger', 'condition', 'exit'),
  nodeName: fc.option(fc.string({ maxLength: 20 })),
  visit: fc.integer({ min: 1, max: 99 }),
  attempt: fc.integer({ min: 1, max: 9 }),
  status: fc.constantFrom('completed' as const, 'failed' as const, 'retrying' as const),
  input: fc.jsonValue({ maxDepth: 1 }),
  output: fc.jsonValue({ maxDepth: 1 }),
  error: fc.option(fc.record({ message: fc.string(), type: fc.string() })),
  startedAt: moment,
  completedAt: fc.option(moment),
});
const histories = fc
  .array(fields, { maxLength: 8 })
  .map((all) =>
    (JSON.parse(JSON.stringify(all)) as Omit<HistoryEntry, 'id'>[]).map((entry, index): HistoryEntry => ({ ...entry, id: index + 1 })),
  );

test('each page of a history in a row has the records of the run', () => {
  fc.assert(
    fc.property(histories, fc.nat(9), fc.integer({ min: 1, max: 9 }), (entries, offset, limit) => {
      const packed = packHistory(entries);
      fc.pre(packed !== null);
      const records = entries.slice(offset, offset + limit).map(historyRecord);
      expect(readPackedHistory(packed!, { limit, offset })).toEqual({ records, total: entries.length });
    }),
  );
});

test('a long history is not for a row', () => {
  const entry = { id: 1, nodeId: 'n', nodeType: 'exit', nodeName: null, visit: 1, attempt: 1, status: 'completed' as const };
  const of = (output: string): HistoryEntry => ({ ...entry, input: null, output, error: null, startedAt: 1, completedAt: 2 });
  expect(packHistory([of('x'.repeat(1_900))])).not.toBeNull();
  expect(packHistory([of('x'.repeat(2_000))])).toBeNull();
});
