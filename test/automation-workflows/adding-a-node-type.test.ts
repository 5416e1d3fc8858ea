import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { actionHandles, defineNode, findInField, next, type NodeType } from '../../src/automation-workflows/nodes/contract.ts';
import { performEffect } from '../../src/automation-workflows/nodes/shared/perform-effect.ts';
import { nodeTypes } from '../../src/automation-workflows/nodes/registry.ts';
import { configObject } from '../../src/library/json/config-object.ts';
import { chain, createActiveWorkflow, waitForRunState } from '../support/journeys.ts';
import { newOrganization, newPhone } from '../support/organization.ts';

/**
 * All that a new node type is: one object, in a file of its own under `nodes/types/`, and one line in the registry. Here this test is the
 * file, and `registry.set` the line. When another part of the service has to learn of a new type, these tests fail.
 */
const giftCardNode = defineNode({
  type: 'gift_card',
  label: 'Gift card',
  description: 'Gives a card of `amount` to a contact of the list `list_id`.',
  dataSchema: configObject({ amount: z.int().positive(), list_id: z.int().positive().optional() }),
  handles: (data) => [...actionHandles(), ...(Number(data['amount']) >= 100 ? ['large'] : [])],
  isSideEffect: true,
  needsContact: true,
  references: {
    noun: 'contact list',
    listPath: '/contacts/lists',
    find: findInField('list_id'),
    findExisting: async ({ database, organization }, ids) => {
      const found = await database.all(
        database.prepare<{ id: number }>('SELECT id FROM contact_list WHERE organization_id = ? AND deleted_at IS NULL', organization.id),
      );
      return new Set(found.map(({ id }) => id).filter((id) => ids.includes(id)));
    },
  },
  example: { amount: 20 },
  run: async (step) => {
    const card = {
      event_type: 'gift_card_given',
      data: { amount: step.data.amount, to: (step.scope['contact'] as any)?.first_name ?? null },
    };
    const result = await performEffect(step, card, () => step.effects.emitEvent(step.key, card));
    return result.kind === 'next' && step.data.amount >= 100 ? next(result.output, 'large', 'default') : result;
  },
});

const registry = nodeTypes as Map<string, NodeType>;
beforeAll(() => void registry.set(giftCardNode.type, giftCardNode));
afterAll(() => void registry.delete(giftCardNode.type));

const card = (data: Record<string, unknown>) => ({ id: 'card', type: 'gift_card', data });
const problems = (body: any) => body.detail.map(({ loc, msg }: { loc: string[]; msg: string }) => `${loc.slice(2).join('.')}: ${msg}`);

test('editors see a new node type with its schema, handles and example', async () => {
  const { client } = await newOrganization();
  const { body } = await client.get('/automation-workflows/node-types');
  expect(body.node_types.find(({ type }: any) => type === 'gift_card')).toMatchObject({
    label: 'Gift card',
    data_schema: { properties: { amount: { type: 'integer' } } },
    handles: ['default', 'error'],
    example: { amount: 20 },
  });
});

test('a graph with a new node type is checked: data, handles, references, keys without effect', async () => {
  const { client } = await newOrganization();
  const create = async (data: Record<string, unknown>, more: object[] = []) => {
    const graph = chain(card(data));
    return (await client.post('/automation-workflows', { name: 'Gifts', definition: { ...graph, edges: [...graph.edges, ...more] } })).body;
  };
  const activate = async (workflow: any) => (await client.patch(`/automation-workflows/${workflow.id}`, { status: 'active' })).body;
  expect(problems(await activate(await create({ amount: 'many' })))[0]).toContain('nodes.card.data.amount');
  const large = [{ id: 'l', source: 'card', source_handle: 'large', target: 'out' }];
  expect(problems(await activate(await create({ amount: 20 }, large)))[0]).toMatch(/^edges\.l\.source_handle: .*default, error/);
  expect((await activate(await create({ amount: 100 }, large))).status).toBe('active');
  expect(problems(await activate(await create({ amount: 20, list_id: 987_654_321 })))).toEqual([
    'nodes.card.data.list_id: There is no contact list 987654321 in this organization; name one of GET /contacts/lists',
  ]);
  const list = await client.post('/contacts/lists', { name: 'Friends' });
  expect(list.body).toMatchObject({ id: expect.any(Number) });
  expect((await activate(await create({ amount: 20, list_id: list.body.id }))).status).toBe('active');
  expect((await create({ amount: 20, colour: 'red' })).warnings).toMatchObject([
    { loc: ['body', 'definition', 'nodes', 'card', 'data', 'colour'] },
  ]);
});

test('a run performs a new node type, with the contact although its data does not name it, and a dry run only shows it', async () => {
  const { client } = await newOrganization();
  const contact = (await client.post('/contacts', { phone: newPhone(), first_name: 'Ada' })).body;
  const id = await createActiveWorkflow(client, { definition: chain(card({ amount: 20 })) });
  const tested = (await client.post(`/automation-workflows/${id}/test`, { contact_id: contact.id })).body;
  const entry = tested.history.find(({ node_id }: any) => node_id === 'card');
  expect(entry).toMatchObject({ status: 'simulated', output: { simulated: true, request: { data: { amount: 20, to: 'Ada' } } } });
  expect((await client.get('/events?event_type=gift_card_given')).body.total).toBe(0);
  const started = (await client.post(`/automation-workflows/${id}/execute`, { contact_id: contact.id, context: {} })).body;
  expect(await waitForRunState(client, started.id, 'completed')).toMatchObject({ outcome: 'done' });
  const { events } = (await client.get('/events?event_type=gift_card_given')).body;
  expect(events).toMatchObject([{ contact_id: contact.id }]);
  expect((await client.get(`/automation-workflows/runs/${started.id}/history`)).body.history[1]).toMatchObject({
    node_type: 'gift_card',
    status: 'completed',
  });
});

test('only its own file and the registry name a node type', () => {
  const sources = import.meta.glob<string>(
    ['../../src/automation-workflows/{definitions,nodes,runs,workflows,explain}/**/*.ts', '../../durable-objects/automation-run/*.ts'],
    { query: '?raw', import: 'default', eager: true },
  );
  // Names of node types with another meaning, too: the end of a step, a field, the start of every run.
  const ambiguous = new Set(['trigger', 'wait', 'wait_for_event', 'condition', 'exit']);
  const names = [...nodeTypes.keys()].filter((name) => !ambiguous.has(name));
  expect(Object.keys(sources).length).toBeGreaterThan(100);
  const naming = Object.entries(sources).flatMap(([path, text]) =>
    names
      .filter((name) => text.includes(`'${name}'`) && !path.endsWith(`/nodes/types/${name.replaceAll('_', '-')}.ts`))
      .map((name) => `${path}: ${name}`),
  );
  expect(naming).toEqual([]);
});
