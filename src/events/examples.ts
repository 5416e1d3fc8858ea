import type { ExamplesByOperation } from '../http/openapi/examples.ts';

/** Requests that work in the order of the document, with their answers. */
export const eventExamples: ExamplesByOperation = {
  'events.create': {
    body: {
      event_type: 'order_placed',
      event_id: 'order-1001',
      phone: '(415) 555-0123',
      data: { order_id: 1001, total: 129.5 },
      occurred_at: '2026-11-20T10:15:30Z',
    },
    answer: { event_id: 1, contact_id: 1, triggered_workflows: 0 },
  },
  'events.list': {
    query: { event_type: 'order_placed', limit: 10 },
    answer: {
      events: [
        {
          id: 1,
          event_type: 'order_placed',
          phone: '+14155550123',
          contact_id: 1,
          contact_name: 'Ada Byron',
          event_data: { order_id: 1001, total: 129.5 },
          occurred_at: '2026-11-20T10:15:30.000Z',
          note: null,
          created_at: '2026-11-20T10:15:31.000Z',
        },
      ],
      total: 1,
      limit: 10,
      offset: 0,
      next_cursor: null,
    },
  },
};
