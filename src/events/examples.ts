import type { ExamplesByOperation } from '../http/operation-examples.ts';

/** Requests that work in the order of the document. */
export const eventExamples: ExamplesByOperation = {
  'events.create': {
    body: {
      event_type: 'order_placed',
      phone: '(415) 555-0123',
      list_name: 'Customers',
      event_id: 'order-1001',
      occurred_at: '2026-11-20T10:15:30Z',
      data: { order_id: '1001', total: 129.5, currency: 'USD' },
    },
  },
  'events.get': { path: { event_id: 1 } },
  'events.retry': { path: { event_id: 1 }, answer: { event_id: 1, state: 'open' } },
  'events.list': { query: { event_type: 'order_placed', limit: 10 } },
};
