import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { deliver, dropQueueMessages } from '../support/background.ts';
import { newPhone } from '../support/organization.ts';
import { organizationWithAgent } from '../support/journey-calls.ts';
import { draft } from '../campaigns/campaign-service.ts';
import { dialing, ended, inside, keyOf, rowAt, settle, standingCampaign } from '../campaigns/live-campaigns.ts';

afterEach(() => vi.restoreAllMocks());

/**
 * A deleted contact whose cleanup has not begun, an event of the contact, and campaigns in the given states. Their objects only record
 * which contacts were removed.
 */
async function setUp(states: string[]) {
  const { client, id, agentId } = await organizationWithAgent();
  const campaigns: number[] = [];
  for (const state of states) {
    const campaign = await draft(client, id, 'phone\n+12125550000\n', { workflow_id: agentId });
    await env.DB.prepare('UPDATE campaign SET state = ? WHERE id = ?').bind(state, campaign.id).run();
    campaigns.push(campaign.id);
  }
  const contact: number = (await client.post('/contacts', { phone: newPhone() })).body.id;
  await env.DB.prepare(
    "INSERT INTO event (organization_id, event_type, contact_id, data, created_at, handled_at) VALUES (?, 'seen', ?, '{}', 1, 1)",
  )
    .bind(id, contact)
    .run();
  const removed: string[] = [];
  const down = new Set<string>();
  vi.spyOn(env.CAMPAIGN, 'getByName').mockImplementation(
    (name) =>
      ({
        removeContact: async () => {
          if (down.has(name)) throw new Error('the object is out of reach');
          removed.push(name);
        },
      }) as never,
  );
  const lost = dropQueueMessages();
  await client.delete(`/contacts/${contact}`);
  lost.restore();
  const cleanup = () => env.DB.prepare('SELECT id FROM cleanup WHERE organization_id = ?').bind(id).first<{ id: number }>();
  const row = (await cleanup())!;
  const workOff = () => deliver('fanout', [{ v: 1, kind: 'cleanup', organization_id: id, id: row.id }]);
  const linked = async () =>
    (await env.DB.prepare('SELECT count(*) AS n FROM event WHERE contact_id = ?').bind(contact).first<{ n: number }>())!.n;
  const name = (index: number) => `${id}/${campaigns[index]!}`;
  return { removed, down, cleanup, workOff, linked, name };
}

test('every campaign that was ever started is notified of a deleted contact, drafts are not', async () => {
  const { removed, cleanup, workOff, name } = await setUp(['draft', 'running', 'completed', 'cancelled', 'failed']);
  await workOff();
  expect(removed.toSorted()).toEqual([1, 2, 3, 4].map(name).toSorted());
  expect(await cleanup()).toBeNull();
});

test('a campaign that cannot be reached holds up nothing, and is notified once it can be', async () => {
  const { removed, down, cleanup, workOff, linked, name } = await setUp(['completed', 'running', 'completed']);
  down.add(name(0));
  const sent = vi.spyOn(env.FANOUT_QUEUE, 'send');
  await workOff();
  expect(removed.toSorted()).toEqual([1, 2].map(name).toSorted());
  expect(await linked()).toBe(0);
  expect(await cleanup()).not.toBeNull();
  // Organizations that other tests have deleted may be worked off meanwhile.
  expect(sent.mock.calls.filter(([message]) => (message as { kind: string }).kind !== 'deletion')).toEqual([]);
  down.clear();
  await workOff();
  expect(removed).toContain(name(0));
  expect(await cleanup()).toBeNull();
});

test('rows of an ended campaign forget a deleted contact', async () => {
  const campaign = await standingCampaign({ csv: 'phone,first_name\n+12125550000,Ada\n' });
  const contact: number = (await campaign.client.post('/contacts', { phone: newPhone(), first_name: 'Ada' })).body.id;
  await inside(campaign.stub(), (_, state) => void state.storage.sql.exec('UPDATE campaign_row SET contact_id = ?', contact));
  await campaign.stub().applyReports([dialing(keyOf(campaign, 1)), ended(keyOf(campaign, 1), 'completed')]);
  await settle(campaign);
  expect((await campaign.stub().snapshot())!.state).toBe('completed');
  expect((await campaign.client.delete(`/contacts/${contact}`)).status).toBe(200);
  await vi.waitFor(async () => expect(await rowAt(campaign, 1)).toMatchObject({ state: 'completed', phone: '', variables: {} }), {
    timeout: 10_000,
  });
});
