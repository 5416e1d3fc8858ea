import type { ExamplesByOperation } from '../http/operation-examples.ts';

/** Requests that work in the order of the document. */
export const operationsExamples: ExamplesByOperation = {
  'operations.listStuck': {},
  'operations.retryStuck': {
    path: { stuck_id: 'event:1' },
    answer: { id: 'event:1', kind: 'event', message: 'The event is sent to its journeys again' },
  },
};
