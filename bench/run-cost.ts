import type { Cost } from './record.ts';
import type { Usage } from './usage.ts';

/** What one run used: of D1 until its object begins and by the object, and everything else that is billed. */
export interface RunUse extends Usage {
  d1BeforeRun: Pick<Cost, 'rowsRead' | 'rowsWritten'>;
  d1OfRun: Pick<Cost, 'rowsRead' | 'rowsWritten'>;
  /** Of the whole local runtime, its D1, queues and R2 included: the Worker's own is less. */
  processorMs: number;
}

/** Dollars a million, beyond what a plan includes. Source: Cloudflare's price lists of Workers, D1, Durable Objects, Queues and R2. */
export const prices = {
  workerRequest: 0.3,
  processorMs: 0.02,
  rowWritten: 1,
  rowRead: 0.001,
  objectRequest: 0.15,
  objectSecond: 1.6,
  queueMessage: 1.2,
  filePut: 4.5,
  fileGet: 0.36,
};

/** The estimate of a run of six nodes from before it could be measured, without what starts the run. */
export const estimate = { objectRequests: 4, objectSeconds: 0.5, objectRowsWritten: 18, d1RowsWritten: 9 };

export interface CostLine {
  resource: string;
  /** By what comes before the run, the webhook and the consumer, and by the run itself. */
  before: number;
  run: number;
  price: number;
  estimated: number | null;
}

export interface RunCost {
  lines: CostLine[];
  /** Of what comes before each of a million runs, of the runs themselves, and of the estimate. */
  dollarsPerMillion: { before: number; run: number; estimated: number };
}

export function runCost(use: RunUse): RunCost {
  const lines = linesOf(use);
  const sum = (of: (line: CostLine) => number) => lines.reduce((total, line) => total + line.price * of(line), 0);
  return {
    lines,
    dollarsPerMillion: {
      before: sum(({ before }) => before),
      run: sum(({ run }) => run),
      estimated: sum(({ estimated }) => estimated ?? 0),
    },
  };
}

const line = (resource: string, price: number, before: number, run: number, estimated: number | null = null): CostLine => ({
  resource,
  before,
  run,
  price,
  estimated,
});

/** Every billed resource of a run. */
const linesOf = (use: RunUse): CostLine[] => [
  line('D1 rows written', prices.rowWritten, use.d1BeforeRun.rowsWritten, use.d1OfRun.rowsWritten, estimate.d1RowsWritten),
  line('object rows written, alarms set included', prices.rowWritten, 0, use.objectRowsWritten + use.alarmsSet, estimate.objectRowsWritten),
  line('object requests: calls and alarms', prices.objectRequest, 0, use.objectCalls + use.alarmsFired, estimate.objectRequests),
  line('object seconds active', prices.objectSecond, 0, use.objectMs / 1000, estimate.objectSeconds),
  line('D1 rows read', prices.rowRead, use.d1BeforeRun.rowsRead, use.d1OfRun.rowsRead),
  line('object rows read', prices.rowRead, 0, use.objectRowsRead),
  line('R2 objects written', prices.filePut, 0, use.filesWritten),
  line('queue messages', prices.queueMessage, use.queueMessages, 0),
  line('Worker requests', prices.workerRequest, use.workerRequests, 0),
  line('CPU ms of the Worker, at most', prices.processorMs, use.processorMs, 0),
];
