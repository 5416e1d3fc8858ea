import { exports } from 'cloudflare:workers';
import { describe, expect, test, vi } from 'vitest';
import {
  renderExample,
  listNeededRecords,
  insertIds,
  type Journey,
  type JourneyFile,
  type NeededRecord,
} from '../../scripts/tour/journey-file.ts';
import { shopifyHeaders } from '../../scripts/tour/shopify-signature.ts';
import { deliver } from '../support/background.ts';
import { gallery, galleryAgents, galleryNames, type GalleryName } from '../support/gallery.ts';
import { waitForRunState } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

/** The outcome of the example, and some of the nodes that it passes. */
const expected: Record<GalleryName, { outcome: RegExp; passes: string[] }> = {
  'abandoned-cart': { outcome: /^exited$/, passes: ['what_came', 'call', 'decide'] },
  'order-paid-webhook': { outcome: /^told$/, passes: ['tell'] },
  'appointment-reminder': { outcome: /^reminded$/, passes: ['move', 'text', 'call'] },
  'lead-to-call': { outcome: /^contacted$/, passes: ['attempt', 'call', 'mark', 'sort'] },
  'win-back': { outcome: /^won_back_by_(call|text|nothing)$/, passes: ['morning', 'group', 'measure', 'sort'] },
  'payment-failed': { outcome: /^recovered$/, passes: ['ask_billing', 'text', 'second', 'mark_paid'] },
  'review-request': { outcome: /^promoter$/, passes: ['three_days', 'at_ten', 'ask', 'promote'] },
  'renewal-notice': { outcome: /^exited$/, passes: ['remember', 'month_before', 'text', 'week_before'] },
  'nightly-list-sweep': { outcome: /^became_lapsed$/, passes: ['lapsed', 'sort', 'write'] },
};

/** The journey in the form in which a reader would post it, with the ids of the reader's own records. */
async function readyToPost(client: Client, file: JourneyFile): Promise<Journey> {
  const ids = new Map<number, number>();
  for (const need of listNeededRecords(file)) {
    const made = await makeNeeded(client, need);
    expect([200, 201], JSON.stringify(made.body)).toContain(made.status);
    ids.set(need.placeholder, made.body.id);
  }
  return insertIds(file.journey, ids);
}

function makeNeeded(client: Client, need: NeededRecord) {
  if ('list' in need) return client.post('/contacts/lists', { name: need.list });
  if ('agent' in need) return client.post('/workflow/create/definition', galleryAgents[need.agent]);
  return client.post('/automation-workflows', gallery[need.journey as GalleryName].journey);
}

async function activeJourney(client: Client, name: GalleryName): Promise<number> {
  const created = await client.post('/automation-workflows', await readyToPost(client, gallery[name]));
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  expect(created.body.status).toBe('draft');
  const validated = await client.post(`/automation-workflows/${created.body.id}/validate`, {});
  expect(validated.body).toEqual({ valid: true, errors: [], warnings: [] });
  const active = await client.patch(`/automation-workflows/${created.body.id}`, { status: 'active' });
  expect(active.status, JSON.stringify(active.body)).toBe(200);
  return created.body.id;
}

describe.each(galleryNames)('%s', (name) => {
  test('can be posted and activated unchanged, and its example ends as described', async () => {
    const { client } = await newOrganization({ timezone: 'America/New_York' });
    const workflow = await activeJourney(client, name);
    const { contact, context, events } = renderExample(gallery[name], Date.now());
    const upserted = await client.post('/contacts/upsert', contact);
    expect(upserted.status, JSON.stringify(upserted.body)).toBe(200);
    const { id } = upserted.body.contact;
    const tested = await client.post(`/automation-workflows/${workflow}/test`, { contact_id: id, context, events });
    expect(tested.status, JSON.stringify(tested.body)).toBe(200);
    const { outcome, passes } = expected[name];
    expect(tested.body).toMatchObject({ state: 'completed', error: null, outcome: expect.stringMatching(outcome) });
    expect(tested.body.history.map((entry: { node_id: string }) => entry.node_id)).toEqual(expect.arrayContaining(passes));
  });
});

test('a journey is refused with the name of each record that the reader does not have', async () => {
  const { client } = await newOrganization();
  const sweep = await client.post('/automation-workflows', gallery['nightly-list-sweep'].journey);
  expect(sweep).toMatchObject({ status: 422, body: { detail: [{ msg: expect.stringContaining('no contact list 999999902') }] } });
  const renewal = await client.post('/automation-workflows', gallery['renewal-notice'].journey);
  const active = await client.patch(`/automation-workflows/${renewal.body.id}`, { status: 'active' });
  expect(active).toMatchObject({
    status: 422,
    body: {
      detail: [
        { msg: expect.stringContaining('no workflow 999999901') },
        { msg: expect.stringContaining('no active voice agent 999999908') },
      ],
    },
  });
});

describe('live', () => {
  const runsOf = async (client: Client, workflow: number): Promise<any[]> =>
    (await client.get(`/automation-workflows/${workflow}/runs`)).body.runs;
  const waitingRun = (client: Client, workflow: number, holds: (run: any) => void = () => undefined) =>
    vi.waitFor(
      async () => {
        const runs = await runsOf(client, workflow);
        expect(runs).toMatchObject([{ state: 'waiting' }]);
        holds(runs[0]);
        return runs[0];
      },
      { timeout: 15_000, interval: 20 },
    );

  test('a moved appointment reaches its run and starts no other; a cancellation ends it', async () => {
    const { client } = await newOrganization();
    const workflow = await activeJourney(client, 'appointment-reminder');
    const phone = newPhone();
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const tell = (event_type: string, starts_at: string) =>
      client.post('/events', { event_type, phone, data: { appointment_id: 12, starts_at, service: 'Eye test' } });
    await tell('appointment_booked', inDays(3));
    const { id } = await waitingRun(client, workflow);
    const moved = inDays(9);
    await tell('appointment_rescheduled', moved);
    await waitingRun(client, workflow, (run) => expect(run).toMatchObject({ id, context: { starts_at: moved } }));
    await tell('appointment_cancelled', moved);
    expect(await waitForRunState(client, id, 'completed')).toMatchObject({ outcome: 'exited', entry_key: '12' });
    expect(await runsOf(client, workflow)).toHaveLength(1);
  });

  test("a shop's signed webhook of a paid order ends the run of its cart at once, and of no other", async () => {
    const { client } = await newOrganization();
    const carts = await activeJourney(client, 'abandoned-cart');
    const paid = await activeJourney(client, 'order-paid-webhook');
    const [trigger] = (await client.get(`/automation-workflows/${paid}/triggers`)).body.triggers;
    const phone = newPhone();
    for (const cart_id of ['c-1', 'c-2']) await client.post('/events', { event_type: 'cart_added', phone, data: { cart_id } });
    const waiting = await vi.waitFor(async () => {
      const runs = await runsOf(client, carts);
      expect(runs).toMatchObject([{ state: 'waiting' }, { state: 'waiting' }]);
      return runs;
    }, 15_000);
    const keyOf = (key: string): number => waiting.find(({ entry_key }) => entry_key === key).id;
    const body = JSON.stringify({ id: 6012345678, cart_token: 'c-1', total_price: '129.90', customer: { phone } });
    const headers = shopifyHeaders('replace-with-the-secret-of-the-shop', body, 'delivery-1');
    for (const _time of ['first', 'again']) {
      const answer = await exports.default.fetch(new Request(trigger.webhook_url, { method: 'POST', headers, body }));
      expect(answer.status).toBe(202);
    }
    expect(await waitForRunState(client, keyOf('c-1'), 'completed')).toMatchObject({ outcome: 'exited', error: null });
    expect((await client.get(`/automation-workflows/runs/${keyOf('c-2')}`)).body.state).toBe('waiting');
    expect((await client.get('/events?event_type=order_placed')).body.total).toBe(1);
  });

  test('a moved appointment without a run starts one', async () => {
    const { client } = await newOrganization();
    const workflow = await activeJourney(client, 'appointment-reminder');
    const starts_at = new Date(Date.now() + 5 * 86_400_000).toISOString();
    await client.post('/events', { event_type: 'appointment_rescheduled', phone: newPhone(), data: { appointment_id: 'a', starts_at } });
    await waitingRun(client, workflow, (run) => expect(run).toMatchObject({ current_node_id: 'until_next', context: { starts_at } }));
  });

  test('each renewal date of a contact starts one run, also one that is set before the last has passed', async () => {
    const { client, id: organization } = await newOrganization();
    const workflow = await activeJourney(client, 'renewal-notice');
    const dateIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const contact = (await client.post('/contacts', { phone: newPhone(), custom_fields: { renews_on: dateIn(100) } })).body;
    await waitingRun(client, workflow, (run) => expect(run.current_node_id).toBe('month_before'));
    await client.put(`/contacts/${contact.id}`, { custom_fields: { color: 'blue' } });
    await deliver('fanout', [{ v: 1, kind: 'contact_changes', organization_id: organization }]);
    expect(await runsOf(client, workflow)).toHaveLength(1);
    await client.put(`/contacts/${contact.id}`, { custom_fields: { renews_on: dateIn(465) } });
    await vi.waitFor(
      async () => {
        const planned = (await client.get(`/contacts/${contact.id}`)).body.custom_fields.renewal_planned_for;
        expect(planned).toBe(dateIn(465));
        expect((await runsOf(client, workflow)).map((run) => run.entry_key)).toEqual([
          `${contact.id}-${dateIn(465)}`,
          `${contact.id}-${dateIn(100)}`,
        ]);
      },
      { timeout: 15_000, interval: 20 },
    );
  });
});
