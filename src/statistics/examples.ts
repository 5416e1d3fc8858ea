import type { ExamplesByOperation } from '../http/operation-examples.ts';

/** Example requests that work in the order of the OpenAPI document. */
export const statisticsExamples: ExamplesByOperation = {
  'statistics.calls': { query: { from: '2026-11-01', to: '2026-11-30', group_by: 'day,disposition' } },
  'statistics.journey': { path: { automation_workflow_id: 1 }, query: { interval: 'week' } },
  'statistics.knowledge': { query: { limit: 20 } },
  'statistics.usage': { query: { interval: 'month' } },
};
