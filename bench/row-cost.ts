import { sumCost } from './record.ts';
import type { RecordedCall } from './recipe.ts';
import { prices } from './run-cost.ts';
import { table } from './table.ts';
import type { Usage } from './usage.ts';

/** What one dialled row of a campaign used. */
export interface RowUse extends Usage {
  /** How the calls end. */
  kind: string;
  d1Calls: number;
  d1RowsRead: number;
  d1RowsWritten: number;
  /** Of the whole local runtime, its D1, queues and R2 included: the Worker's own is less. */
  processorMs: number;
}

/** The use of one row, from the use of `rows` rows together. */
export function rowUse(kind: string, rows: number, usage: Usage, calls: RecordedCall[], processorSeconds: number): RowUse {
  const d1 = sumCost(calls);
  const shared = Object.fromEntries(Object.entries(usage).map(([name, value]) => [name, Number(value) / rows])) as unknown as Usage;
  return {
    ...shared,
    kind,
    d1Calls: d1.calls / rows,
    d1RowsRead: d1.rowsRead / rows,
    d1RowsWritten: d1.rowsWritten / rows,
    processorMs: (processorSeconds / rows) * 1000,
  };
}

const framesPerCall = 20;

const resources: { name: string; price: number; of: (use: RowUse) => number }[] = [
  { name: 'D1 rows written', price: prices.rowWritten, of: (use) => use.d1RowsWritten },
  { name: 'object rows written', price: prices.rowWritten, of: (use) => use.objectRowsWritten },
  { name: 'alarms set', price: prices.rowWritten, of: (use) => use.alarmsSet },
  {
    name: `object requests: calls, alarms, every ${framesPerCall}th frame`,
    price: prices.objectRequest,
    of: (use) => use.objectCalls + use.alarmsFired + use.socketFrames / framesPerCall,
  },
  { name: 'object seconds active', price: prices.objectSecond, of: (use) => use.objectMs / 1000 },
  { name: 'D1 rows read', price: prices.rowRead, of: (use) => use.d1RowsRead },
  { name: 'object rows read', price: prices.rowRead, of: (use) => use.objectRowsRead },
  { name: 'R2 objects written', price: prices.filePut, of: (use) => use.filesWritten },
  { name: 'queue messages', price: prices.queueMessage, of: (use) => use.queueMessages },
  { name: 'Worker requests', price: prices.workerRequest, of: (use) => use.workerRequests },
  { name: 'CPU ms of the Worker, at most', price: prices.processorMs, of: (use) => use.processorMs },
];

export interface RowCost {
  kind: string;
  d1Calls: number;
  lines: { resource: string; used: number; price: number }[];
  dollarsPerMillion: number;
}

export const rowCost = (use: RowUse): RowCost => ({
  kind: use.kind,
  d1Calls: use.d1Calls,
  lines: resources.map(({ name, price, of }) => ({ resource: name, used: of(use), price })),
  dollarsPerMillion: resources.reduce((sum, { price, of }) => sum + price * of(use), 0),
});

const shown = (value: number) => String(Number(value.toPrecision(3)));

/** What dialled rows are billed for, one kind beside the other. */
export function rowCostSection(uses: RowUse[]): string[] {
  const costs = uses.map(rowCost);
  const heads = ['resource', '$ a million of each', ...uses.flatMap(({ kind }) => [kind, '$ a million rows'])];
  const cells = resources.map(({ name, price, of }) =>
    [name, String(price)].concat(uses.flatMap((use) => [shown(of(use)), (price * of(use)).toFixed(2)])),
  );
  cells.push(['together', ''].concat(costs.flatMap(({ dollarsPerMillion }) => ['', dollarsPerMillion.toFixed(2)])));
  return [
    `What one dialled row of a campaign is billed for, its share of the campaign's start and end included (${costs
      .map(({ kind, d1Calls }) => `${kind}: ${shown(d1Calls)} calls to D1`)
      .join('; ')}):`,
    '',
    ...table(heads, cells),
  ];
}
