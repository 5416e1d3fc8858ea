import { createHmac } from 'node:crypto';
import { exports } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { createActiveWorkflow, chain } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

const secret = 'a-secret-of-the-shop';
const sign = (body: string) => ({
  'x-signature': createHmac('sha256', secret).update(body).digest('hex'),
  'content-type': 'application/json',
});
const config = {
  auth: { type: 'hmac_sha256', header: 'X-Signature', secret },
  mapping: { phone: 'customer.phone', first_name: 'customer.name', order: 'id' },
  delivery_id: '$.id',
  filter: { field: 'webhook.body.total', operator: 'gte', value: 10 },
};

async function hooked(client: Client, more: object = {}) {
  const definition = chain({
    id: 'note',
    type: 'set_context',
    data: { assign: { summary: '{{ contact.first_name }} {{ order }} {{ webhook.query.shop }}' } },
  });
  const workflow = await createActiveWorkflow(client, { definition, trigger: { type: 'webhook', config: { ...config, ...more } } });
  const dry = (webhook: object, rest: object = {}) => client.post(`/automation-workflows/${workflow}/test`, { webhook, ...rest });
  return { workflow, dry };
}

test('a raw delivery is checked, mapped and walked, and nothing is written', async () => {
  const { client } = await newOrganization();
  const { workflow, dry } = await hooked(client);
  const phone = newPhone();
  const body = `{"id": "A-1",  "total": 12, "customer": {"name": "Zoë", "phone": "${phone}"}}`;
  const created = await dry({ headers: sign(body), body, query: { shop: 'north' } });
  expect(created.status, JSON.stringify(created.body)).toBe(200);
  expect(created.body).toMatchObject({
    state: 'completed',
    context: { summary: 'Zoë A-1 north' },
    webhook: {
      signature: 'ok',
      delivery_id: 'A-1',
      contact: { id: null, would_be: 'created' },
      variables: { order: 'A-1' },
      would_start: true,
      reasons: [],
    },
  });
  expect((await client.get('/contacts')).body.total).toBe(0);
  const [trigger] = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers;
  const sent = await exports.default.fetch(new Request(trigger.webhook_url, { method: 'POST', headers: sign(body), body }));
  expect(sent.status).toBe(202);
  const again = await dry({ headers: sign(body), body });
  const { id } = (await client.get('/contacts')).body.contacts[0];
  expect(again.body.webhook).toMatchObject({
    contact: { id, would_be: 'found' },
    would_start: false,
    reasons: [expect.stringContaining('A-1 has come already')],
  });
});

test('a delivery that the filter keeps out is walked all the same, and said so; an object is sent as its JSON', async () => {
  const { client } = await newOrganization();
  const { dry } = await hooked(client);
  const { body } = await dry({ body: { id: 7, total: 3 }, check_signature: false });
  expect(body).toMatchObject({
    state: 'completed',
    webhook: { signature: 'not checked', contact: { would_be: 'none' }, would_start: false },
  });
  expect(body.webhook.reasons).toEqual(["The trigger's filter does not match"]);
});

test('a wrong signature gets an answer that names the header or what is signed, and shows neither secret nor signature', async () => {
  const { client } = await newOrganization();
  const { dry } = await hooked(client);
  const missing = await dry({ body: '{}' });
  expect(missing).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ['body', 'webhook', 'headers'], msg: expect.stringContaining('header X-Signature is missing') }] },
  });
  const wrong = await dry({ headers: sign('{ }'), body: '{}' });
  expect(wrong).toMatchObject({ status: 422, body: { detail: [{ msg: expect.stringContaining('over the 2 raw bytes of the body') }] } });
  expect(JSON.stringify(wrong.body)).not.toContain(secret);
  expect(JSON.stringify(wrong.body)).not.toContain(sign('{}')['x-signature']);
  const stripe = await hooked(client, { auth: { type: 'stripe', secret } });
  const old = Math.floor(Date.now() / 1000) - 600;
  const late = await stripe.dry({ headers: { 'stripe-signature': `t=${old},v1=00` }, body: '{}' });
  expect(late.body.detail[0].msg).toContain('more than 5 minutes from now');
});

test('invalid combinations with a delivery are refused, and another organization sees none of it', async () => {
  const { client } = await newOrganization();
  const { workflow, dry } = await hooked(client);
  for (const [rest, place] of [
    [{ dry_run: false }, 'webhook'],
    [{ contact_id: 1 }, 'contact_id'],
    [{ context: { a: 1 } }, 'context'],
  ] as const)
    expect((await dry({ body: '{}' }, rest)).body.detail).toMatchObject([{ loc: ['body', place] }]);
  expect((await dry({ body: '{}', trigger_id: 1 })).status).toBe(404);
  const plain = await createActiveWorkflow(client, { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'PT1S' } }) });
  expect((await client.post(`/automation-workflows/${plain}/test`, { webhook: {} })).status).toBe(409);
  const { client: stranger } = await newOrganization();
  expect((await stranger.post(`/automation-workflows/${workflow}/test`, { webhook: { body: '{}' } })).status).toBe(404);
});
