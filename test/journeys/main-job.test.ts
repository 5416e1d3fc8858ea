import { expect, test, vi } from 'vitest';
import { newOrganization, newPhone } from '../support/organization.ts';

const tagger = {
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    { id: 'tag', type: 'update_contact', data: { set: { title: 'Bought {{ sku }}' }, add_tags: ['buyer'] } },
    { id: 'out', type: 'exit', data: { outcome: 'tagged' } },
  ],
  edges: [
    { id: 'a', source: 'in', target: 'tag' },
    { id: 'b', source: 'tag', target: 'out' },
  ],
};

test('an accepted event resolves its contact, starts the matching journey once, and the journey acts', async () => {
  const { client } = await newOrganization();
  const workflow = await client.post('/automation-workflows/', {
    name: 'On cart',
    definition: tagger,
    trigger: { type: 'contact_event', config: { event_types: ['cart_added'] } },
  });
  expect(workflow.body).toMatchObject({ status: 'draft', version: 1, updated_at: null });
  const active = await client.patch(`/automation-workflows/${workflow.body.id}`, { status: 'active' });
  expect(active.body).toMatchObject({ status: 'active' });
  const phone = newPhone();
  const event = await client.post('/events', { event_type: 'cart_added', phone, data: { sku: 'K-200' } });
  expect(event.status).toBe(201);
  const run = await vi.waitFor(
    async () => {
      const { body } = await client.get(`/automation-workflows/${workflow.body.id}/runs`);
      expect(body.runs[0]?.state).toBe('completed');
      return body.runs[0];
    },
    { timeout: 10_000, interval: 50 },
  );
  expect(run).toMatchObject({ outcome: 'tagged', contact_id: event.body.contact_id });
  const contact = await client.get(`/contacts/${event.body.contact_id}`);
  expect(contact.body).toMatchObject({ title: 'Bought K-200', tags: ['event', 'buyer'] });
  const history = await client.get(`/automation-workflows/runs/${run.id}/history`);
  expect(history.body.history.map((entry: { node_id: string }) => entry.node_id)).toEqual(['in', 'tag', 'out']);
});
