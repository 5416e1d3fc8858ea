import { sumCost } from '../record.ts';
import type { RecordedCall } from '../recipe.ts';
import { prices } from '../run-cost.ts';
import type { Usage } from '../usage.ts';

/** What is counted of a unit of work. */
export const operations = [
  'd1_calls',
  'd1_rows_read',
  'd1_rows_written',
  'object_requests',
  'object_rows_read',
  'object_rows_written',
  'alarms_set',
  'files_written',
  'files_read',
  'queue_messages',
  'worker_requests',
] as const;

export type Operation = (typeof operations)[number];
export type Counts = Record<Operation, number>;

const framesPerRequest = 20;

/** Dollars a million of each. A call to D1 costs time, not money. */
const priceOf: Record<Operation, number> = {
  d1_calls: 0,
  d1_rows_read: prices.rowRead,
  d1_rows_written: prices.rowWritten,
  object_requests: prices.objectRequest,
  object_rows_read: prices.rowRead,
  object_rows_written: prices.rowWritten,
  alarms_set: prices.rowWritten,
  files_written: prices.filePut,
  files_read: prices.fileGet,
  queue_messages: prices.queueMessage,
  worker_requests: prices.workerRequest,
};

export function toCounts(calls: RecordedCall[], usage: Usage): Counts {
  const d1 = sumCost(calls);
  return {
    d1_calls: d1.calls,
    d1_rows_read: d1.rowsRead,
    d1_rows_written: d1.rowsWritten,
    object_requests: usage.objectCalls + usage.alarmsFired + usage.socketFrames / framesPerRequest,
    object_rows_read: usage.objectRowsRead,
    object_rows_written: usage.objectRowsWritten,
    alarms_set: usage.alarmsSet,
    files_written: usage.filesWritten,
    files_read: usage.filesRead,
    queue_messages: usage.queueMessages,
    worker_requests: usage.workerRequests,
  };
}

/** Combines the counts of each operation. */
export const mapCounts = (of: (operation: Operation) => number): Counts =>
  Object.fromEntries(operations.map((operation) => [operation, of(operation)])) as Counts;

/** What a million of such units cost, processor and object time left out, which are no counts. */
export const dollarsPerMillion = (counts: Counts): number =>
  operations.reduce((sum, operation) => sum + priceOf[operation] * counts[operation], 0);
