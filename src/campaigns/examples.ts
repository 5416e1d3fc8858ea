import type { ExamplesByOperation } from '../http/operation-examples.ts';

const people = `First name,Mobile,Product
Ada,(415) 555-0123,heat pumps
Nina,(212) 555-0110,solar roofs
Ben,(212) 550-0002,heat pumps
Cleo,(212) 551-1103,heat pumps
Dora,+49 30 23125014,heat pumps
Emil,not a number,solar roofs
`;

/** Example requests that work in the order of the OpenAPI document. */
export const campaignExamples: ExamplesByOperation = {
  'campaigns.createUploadUrl': { body: { filename: 'spring.csv', content_type: 'text/csv', file_size: people.length } },
  'campaigns.upload': { path: { organization_id: '1', source_id: '00000000-0000-4000-8000-000000000000' }, body: people },
  'campaigns.preview': { body: { source_type: 'contact_list', source_id: '1' } },
  'campaigns.create': [
    {
      name: 'file',
      summary: 'Calls the people of a file',
      body: {
        name: 'Spring offer',
        workflow_id: 1,
        source_type: 'csv',
        source_id: '00000000-0000-4000-8000-000000000000',
        max_concurrency: 1,
        retry_config: { enabled: false },
      },
    },
    {
      name: 'list',
      summary: 'Calls the people on a list, on weekdays from nine to five in their own time',
      body: {
        name: 'Spring offer by list',
        workflow_id: 1,
        source_type: 'contact_list',
        source_id: '1',
        schedule_config: {
          enabled: true,
          timezone: 'America/New_York',
          use_contact_timezone: true,
          slots: [0, 1, 2, 3, 4].map((day_of_week) => ({ day_of_week, start_time: '09:00', end_time: '17:00' })),
        },
      },
    },
  ],
  'campaigns.list': { query: { search: 'spring' } },
  'campaigns.get': { path: { campaign_id: 1 } },
  'campaigns.update': { path: { campaign_id: 1 }, body: { circuit_breaker: { failure_threshold: 0.8, window_seconds: 300 } } },
  'campaigns.start': [
    { name: 'file', path: { campaign_id: 1 } },
    { name: 'list', path: { campaign_id: 2 } },
  ],
  'campaigns.pause': [
    { name: 'list', path: { campaign_id: 2 } },
    { name: 'file', path: { campaign_id: 1 } },
  ],
  'campaigns.resume': { path: { campaign_id: 1 } },
  'campaigns.getProgress': { path: { campaign_id: 1 } },
  'campaigns.listRows': { path: { campaign_id: 1 } },
  'campaigns.getReport': {
    path: { campaign_id: 1 },
    query: { format: 'csv', columns: 'row_number,phone,state,outcome,attempts,disposition,talk_seconds' },
  },
  'campaigns.redial': { path: { campaign_id: 1 }, body: { name: 'Spring offer, once more', outcomes: ['busy', 'no_answer'] } },
  'campaigns.cancel': { path: { campaign_id: 2 } },
};
