import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { createActiveWorkflow, waitForEndedRuns } from '../support/journeys.ts';
import { newOrganization, newPhone } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const onCart = { type: 'contact_event', config: { event_types: ['cart'] } };
const endless = { properties: { a: { $ref: '#/properties/a' } } };
const doubled = {
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries([
    ...Array.from({ length: 19 }, (_, level) => [`d${level}`, { allOf: [1, 2].map(() => ({ $ref: `#/$defs/d${level + 1}` })) }]),
    ['d19', {}],
  ]),
};

test('a journey whose stored schema cannot be applied fails alone, with the reason; the others run for the event', async () => {
  const { client } = await newOrganization();
  const sound = await createActiveWorkflow(client, { trigger: onCart });
  const schemas: [object, RegExp][] = [
    [{ $id: 'http://[' }, /correct it at \$id: "http:\/\/\[" is no URI/],
    [{ properties: { a: { $ref: '#/nope' } } }, /"#\/nope" leads to no schema/],
    [{ properties: { a: { pattern: '(?=x)' } } }, /looks ahead with \(\?=/],
    [endless, /refers to itself without end/],
    [doubled, /takes more than 200,000 steps/],
  ];
  const faulty: number[] = [];
  for (const [schema] of schemas) {
    const id = await createActiveWorkflow(client, { trigger: onCart });
    // The form in which an earlier version, with fewer rules for schemas, stored the schema.
    await env.DB.prepare('UPDATE automation_workflow SET context_schema = ? WHERE id = ?').bind(JSON.stringify(schema), id).run();
    faulty.push(id);
  }
  expect((await client.post('/events', { event_type: 'cart', phone: newPhone(), data: { a: 'x' } })).status).toBe(201);
  expect(await waitForEndedRuns(client, sound)).toEqual([expect.objectContaining({ state: 'completed', outcome: 'done' })]);
  for (const [index, [, words]] of schemas.entries())
    expect((await waitForEndedRuns(client, faulty[index]!))[0]).toMatchObject({
      state: 'failed',
      error: { type: 'context_invalid', message: expect.stringMatching(words) },
    });
});

test('a filter, an entry key or an exit rule that takes too many steps holds up only its own journey', async () => {
  const { client } = await newOrganization();
  const costly = '{% for i in data.items %}{% assign x = data.items | where: "id", -1 %}{% endfor %}';
  const filtered = { ...onCart, config: { ...onCart.config, filter: { field: 'data.items', operator: 'contains', value: costly } } };
  const keyed = { ...onCart, config: { ...onCart.config, entry_key: costly } };
  const exiting = { exit_on: [{ event_type: 'cart', filter: { field: 'data.items', operator: 'contains', value: costly } }] };
  const byFilter = await createActiveWorkflow(client, { trigger: filtered });
  const byKey = await createActiveWorkflow(client, { trigger: keyed });
  await createActiveWorkflow(client, { trigger: { ...onCart, config: { event_types: ['other'] } }, settings: exiting });
  const sound = await createActiveWorkflow(client, { trigger: onCart });
  const items = Array.from({ length: 2000 }, (_, id) => ({ id }));
  expect((await client.post('/events', { event_type: 'cart', phone: newPhone(), data: { items } })).status).toBe(201);
  expect(await waitForEndedRuns(client, sound)).toEqual([expect.objectContaining({ state: 'completed' })]);
  for (const workflow of [byFilter, byKey])
    await vi.waitFor(async () => {
      const { body } = await client.get(`/automation-workflows/${workflow}/triggers`);
      expect(body.triggers[0].last_error).toMatch(/takes more than 200,000 steps; /);
    });
});
