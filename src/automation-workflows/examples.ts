import type { ExamplesByOperation } from '../http/operation-examples.ts';

const thankLargeOrders = {
  nodes: [
    { id: 'start', type: 'trigger', name: 'An order came in', data: {} },
    { id: 'large', type: 'condition', name: 'Above 100?', data: { condition: { field: 'total', operator: 'gt', value: 100 } } },
    { id: 'pause', type: 'wait', name: 'Leave them an hour', data: { duration: 'PT1H' } },
    { id: 'mark', type: 'update_contact', name: 'Remember it', data: { set: { 'custom_fields.tier': 'gold' }, add_tags: ['large-order'] } },
    { id: 'thanked', type: 'exit', data: { outcome: 'thanked' } },
    { id: 'small', type: 'exit', data: { outcome: 'small' } },
  ],
  edges: [
    { id: 'e1', source: 'start', target: 'large' },
    { id: 'e2', source: 'large', source_handle: 'true', target: 'pause' },
    { id: 'e3', source: 'large', source_handle: 'false', target: 'small' },
    { id: 'e4', source: 'pause', target: 'mark' },
    { id: 'e5', source: 'mark', target: 'thanked' },
  ],
};

const tagNewcomer = {
  nodes: [
    { id: 'start', type: 'trigger', data: {} },
    { id: 'tag', type: 'update_contact', data: { add_tags: ['newcomer'] } },
    { id: 'done', type: 'exit', data: { outcome: 'tagged' } },
  ],
  edges: [
    { id: 'e1', source: 'start', target: 'tag' },
    { id: 'e2', source: 'tag', target: 'done' },
  ],
};

/** Requests that work in the order of the document. */
export const journeyExamples: ExamplesByOperation = {
  'journeys.create': [
    {
      name: 'thank',
      summary: 'Marks who placed a large order, an hour later',
      body: {
        name: 'Thank large orders',
        description: 'An hour after an order above 100, remember that the customer is a good one.',
        trigger: { type: 'contact_event', name: 'Order placed', config: { event_types: ['order_placed'] } },
        definition: thankLargeOrders,
        settings: {
          timeout: 'P7D',
          quiet_hours: { timezone: 'contact', slots: [{ day_of_week: 6, start_time: '00:00', end_time: '24:00' }], policy: 'defer' },
        },
      },
    },
    { name: 'tag', summary: 'Needs a contact, and fails without one', body: { name: 'Tag newcomers', definition: tagNewcomer } },
    { name: 'idea', summary: 'A name alone', body: { name: 'An idea' } },
  ],
  'journeys.list': { query: { search: 'orders' } },
  'journeys.listNodeTypes': {},
  'journeys.get': { path: { workflow_id: 1 } },
  'journeys.update': [
    { name: 'activate', summary: 'Activate it', path: { workflow_id: 1 }, body: { status: 'active' } },
    { name: 'rename', summary: 'Rename and activate it', path: { workflow_id: 2 }, body: { name: 'Tag new customers', status: 'active' } },
  ],
  'journeys.archive': { path: { workflow_id: 3 } },
  'journeys.listVersions': { path: { workflow_id: 1 } },
  'journeys.validate': {
    path: { workflow_id: 1 },
    body: {
      definition: {
        nodes: [
          { id: 'start', type: 'trigger', data: {} },
          { id: 'pause', type: 'wait', data: { duration: 'an hour' } },
        ],
        edges: [{ id: 'e1', source: 'start', target: 'pause' }],
      },
    },
  },
  'journeys.test': { path: { workflow_id: 1 }, body: { contact_id: 1, context: { order_id: '1000', total: 129.5 }, dry_run: true } },
  'journeys.execute': [
    { name: 'ada', summary: 'For a contact', path: { workflow_id: 1 }, body: { contact_id: 1, context: { order_id: '1000', total: 240 } } },
    { name: 'nobody', summary: 'Without one', path: { workflow_id: 2 }, body: { context: {} } },
  ],
  'journeys.explain': { path: { workflow_id: 1 }, query: { contact_id: 1 } },
  'triggers.create': [
    {
      name: 'webhook',
      summary: 'Requests of another system',
      path: { workflow_id: 1 },
      body: {
        type: 'webhook',
        name: 'Orders of the shop',
        config: {
          auth: { type: 'none', verify_token: 'acme-shop' },
          mapping: { phone: 'customer.phone', first_name: 'customer.first_name', order_id: 'id', total: 'amount' },
          delivery_id: '$.id',
        },
      },
    },
    { name: 'manual', summary: 'A person, or the fire endpoint', path: { workflow_id: 1 }, body: { type: 'manual', name: 'By hand' } },
    {
      name: 'schedule',
      summary: 'Each Monday at nine, for everybody on a list',
      path: { workflow_id: 1 },
      body: {
        type: 'schedule',
        name: 'Monday morning',
        config: { cron: '0 9 * * 1', timezone: 'America/New_York', audience: { list_id: 1 } },
      },
    },
  ],
  'triggers.list': { path: { workflow_id: 1 } },
  'triggers.update': { path: { trigger_id: 4 }, body: { state: 'paused' } },
  'triggers.archive': { path: { trigger_id: 4 } },
  'triggers.describe': { path: { workflow_id: 1 } },
  'triggers.fire': { path: { workflow_id: 1, trigger_id: 3 }, body: { contact_ids: [3], context: { order_id: '999', total: 50 } } },
  'triggers.listDeliveries': { path: { workflow_id: 1, trigger_id: 2 }, query: { limit: 10 } },
  'triggers.getDelivery': {
    path: { workflow_id: 1, trigger_id: 2, delivery_id: 'order-1002' },
    answer: {
      id: 1,
      delivery_id: 'order-1002',
      trigger_id: 2,
      contact_id: 4,
      state: 'started',
      note: null,
      run: { run_id: 5, automation_workflow_id: 1, trigger_id: 2, state: 'waiting', outcome: null, hold: null },
      failure: null,
      payload_bytes: 205,
      payload_shape: { id: 'string', customer: { phone: 'string', first_name: 'string' }, amount: 'number' },
      created_at: '2026-11-20T10:15:30.000Z',
      handled_at: '2026-11-20T10:15:30.120Z',
      payload: {
        body: { id: 'order-1002', customer: { phone: '+44 20 7946 0958', first_name: 'Priya' }, amount: 240 },
        raw: null,
        headers: { 'content-type': 'application/json' },
        query: {},
        variables: { order_id: 'order-1002', total: 240 },
      },
    },
  },
  'triggers.retryDelivery': {
    path: { workflow_id: 1, trigger_id: 2, delivery_id: 'order-1002' },
    answer: { delivery_id: 'order-1002', state: 'open' },
  },
  'webhooks.receive': [
    {
      name: 'webhook',
      summary: 'An order of the shop',
      path: { trigger_uuid: '0199e3b0-0001-8000-8000-000000000000' },
      body: { id: 'order-1002', customer: { phone: '+44 20 7946 0958', first_name: 'Priya' }, amount: 240 },
    },
  ],
  'webhooks.answerChallenge': [
    {
      name: 'webhook',
      summary: 'The question of a sender that wants to know whether the address is yours',
      path: { trigger_uuid: '0199e3b0-0001-8000-8000-000000000000' },
      query: { challenge: '1158201444', verify_token: 'acme-shop' },
    },
  ],
  'journeyRuns.list': { query: { automation_workflow_id: 1, limit: 10 } },
  'journeyRuns.listOfJourney': { path: { workflow_id: 1 }, query: { contact_id: 1 } },
  'journeyRuns.get': { path: { run_id: 2 } },
  'journeyRuns.getHistory': { path: { run_id: 2 } },
  'journeyRuns.stop': { path: { run_id: 2 } },
  'journeyRuns.retry': { path: { run_id: 3 }, body: { version: 'current' } },
  'journeyRuns.previewMove': { path: { workflow_id: 1, version: 1 } },
  'journeyRuns.move': { path: { workflow_id: 1, version: 1 } },
  'journeyRuns.listMoves': { path: { workflow_id: 1 } },
  'journeyRuns.getMove': { path: { workflow_id: 1, move_id: 1 } },
};
