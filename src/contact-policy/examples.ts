import type { ExamplesByOperation } from '../http/operation-examples.ts';

/** Example requests that work in the order of the OpenAPI document. */
export const contactPolicyExamples: ExamplesByOperation = {
  'contactPolicy.replace': [
    {
      name: 'rules',
      summary: 'Rules that leave people alone at night and do not call them too often',
      body: {
        limits: [
          { channel: 'call', max: 3, per: 'day' },
          { channel: 'any', max: 10, per: 'P7D' },
        ],
        min_gaps: [{ channel: 'call', gap: 'PT2H' }],
        quiet_hours: {
          slots: [0, 1, 2, 3, 4, 5, 6].map((day) => ({ day_of_week: day, start_time: '21:00', end_time: '08:00' })),
          channels: ['call'],
        },
        days_off: { public_holidays: true, dates: ['2026-12-24'], channels: ['call'] },
        when_held: 'wait',
      },
    },
    { name: 'none', summary: 'No rules', body: {} },
  ],
  'contactPolicy.get': {},
  'contactPolicy.recordConsent': {
    path: { contact_id: 1 },
    body: {
      channel: 'call',
      given: true,
      source: 'web form /signup',
      text: 'Yes, you may call me about offers.',
      at: '2026-01-31T10:00:00Z',
    },
  },
  'contactPolicy.listConsents': { path: { contact_id: 1 } },
};
