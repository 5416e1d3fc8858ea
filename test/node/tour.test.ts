import { describe, expect, test } from 'vitest';
import api from '../../openapi.json' with { type: 'json' };
import { docsPath } from '../../scripts/tour/docs-link.ts';
import type { ApiDocument } from '../../scripts/tour/docs-link.ts';
import { findProblems, findRunsOfOrders } from '../../scripts/tour/orders.ts';
import type { Order, Run } from '../../scripts/tour/orders.ts';
import { Service } from '../../scripts/tour/service.ts';
import { StepResultStore } from '../../scripts/tour/step.ts';
import { steps } from '../../scripts/tour/steps.ts';
import { describePath } from '../../scripts/tour/describe-path.ts';

const document = api as unknown as ApiDocument;
const order: Order = { orderId: '6012345678901234571', from: 'event 1', amount: '310.00 EUR', outcome: 'thanked' };
const run = (more: Partial<Run> = {}): Run => ({
  id: 1,
  state: 'completed',
  outcome: 'thanked',
  current_node_id: 'thanked',
  contact_id: 1,
  initial_context: { order_id: order.orderId },
  error: null,
  started_at: '2026-11-20T10:00:00.000Z',
  completed_at: '2026-11-20T10:00:02.000Z',
  ...more,
});
const answering = (status: number, body: unknown) =>
  new Service('http://service.test/api/v1', 'key', () => Promise.resolve(Response.json(body, { status })));

const problems = (...runs: Run[]) => findProblems(findRunsOfOrders([order], runs));

describe('every order starts exactly one run', () => {
  test('one run that ended as it should is no problem', () => {
    expect(problems(run())).toEqual([]);
  });

  test('ids that differ beyond 2^53 are different orders', () => {
    expect(problems(run({ initial_context: { order_id: '6012345678901234572' } }))).toEqual(['order 6012345678901234571 started no run']);
    const damaged = Number('6012345678901234571');
    expect(problems(run({ initial_context: { order_id: damaged } }))).toEqual(['order 6012345678901234571 started no run']);
  });

  test('two runs of one order are reported, even when both ended well', () => {
    expect(problems(run(), run({ id: 2 }))).toEqual(['order 6012345678901234571 started 2 runs instead of one']);
  });

  test('a run that failed, stands still or took the other way is reported with the reason', () => {
    const error = { node_id: 'tell_warehouse', type: 'network', message: 'No answer within 5 seconds' };
    expect(problems(run({ state: 'failed', error }))).toEqual(['run 1 is failed: network at tell_warehouse: No answer within 5 seconds']);
    expect(problems(run({ state: 'waiting', current_node_id: 'pause', completed_at: null }))).toEqual(['run 1 is still waiting at pause']);
    expect(problems(run({ outcome: 'noted' }))).toEqual(['run 1 is completed with outcome noted instead of thanked']);
  });
});

test('the walk of a run reads as names, and says what did not go well', () => {
  const history = [
    { node_id: 'start', node_name: 'An order came in', status: 'completed' },
    { node_id: 'tell', node_name: null, status: 'retrying' },
  ];
  expect(describePath(history)).toBe('An order came in > tell (retrying)');
});

test('a note that no step wrote is a fault in the order of steps', () => {
  expect(() => new StepResultStore().read('orders')).toThrow(/steps\.ts/);
});

describe('links into the docs', () => {
  test('every step shows the page of an operation that exists', () => {
    for (const { operation, title } of steps) expect(docsPath(document, operation), title).toBeDefined();
  });

  test('an operation is found with and without the base path, and an unknown one is not', () => {
    expect(docsPath(document, 'POST /events')).toBe('/docs/#events.create');
    expect(docsPath(document, 'POST /api/v1/events')).toBe('/docs/#events.create');
    expect(docsPath(document, 'PUT /events')).toBeUndefined();
  });
});

describe('what the service answers', () => {
  test('a refusal tells the call, the status and the detail', async () => {
    await expect(answering(404, { detail: 'Trigger not found' }).get('/things/1')).rejects.toThrow(
      'GET /things/1 answered 404: Trigger not found',
    );
    const issue = { loc: ['body', 'name'], msg: 'Must not be empty', type: 'too_small' };
    await expect(answering(422, { detail: [issue] }).post('/things', {})).rejects.toThrow('Must not be empty');
  });

  test('a body that is text goes out byte for byte, under the key', async () => {
    const sent: Request[] = [];
    const service = new Service('http://service.test/api/v1', 'key', (input, init) => {
      sent.push(new Request(input as string, init));
      return Promise.resolve(Response.json({}));
    });
    const text = '{ "order_id": 6012345678901234571 }';
    await service.post('/events', text, { 'idempotency-key': 'one' });
    expect(await sent[0]?.text()).toBe(text);
    expect(Object.fromEntries(sent[0]!.headers)).toMatchObject({
      'x-api-key': 'key',
      'idempotency-key': 'one',
      'content-type': 'application/json',
    });
  });
});
