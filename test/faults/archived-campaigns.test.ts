import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { eraseContact } from '../../src/cron/cleanup/erase-contact.ts';
import { archiveCampaigns } from '../../src/cron/retention/archive-campaigns.ts';
import { Database } from '../../src/database/client.ts';
import { getSettings } from '../../src/settings.ts';
import { dialing, ended, goTo, inside, keyOf, monday, settle, standingCampaign } from '../campaigns/live-campaigns.ts';
import { dropQueueMessages } from '../support/background.ts';
import { newOrganization, newPhone } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const dayMs = 86_400_000;
const archiveAt = (now: number, bindings: Env = env) =>
  archiveCampaigns.removePage({ bindings, database: new Database(env.DB, true), settings: getSettings(env), now });

/** A campaign that has called two people. The first row belongs to a contact. */
async function endedCampaign() {
  const campaign = await standingCampaign({ csv: 'phone,first_name\n+12125550000,Ada\n+12125550001,Grace\n' });
  const contact: number = (await campaign.client.post('/contacts', { phone: newPhone(), first_name: 'Ada' })).body.id;
  await inside(
    campaign.stub(),
    (_, state) => void state.storage.sql.exec('UPDATE campaign_row SET contact_id = ? WHERE number = 1', contact),
  );
  await campaign
    .stub()
    .applyReports([1, 2].flatMap((row) => [dialing(keyOf(campaign, row)), ended(keyOf(campaign, row), row === 1 ? 'completed' : 'busy')]));
  await campaign
    .stub()
    .cancel(crypto.randomUUID())
    .catch(() => undefined);
  await settle(campaign);
  // A timer starts the work after the end.
  await goTo(campaign, monday + dayMs);
  await vi.waitFor(async () => expect((await campaign.client.get(`/campaign/${campaign.id}`)).body.completed_at).not.toBeNull());
  const readAll = async () => {
    const [record, progress, rows, failed, report] = await Promise.all(
      ['', '/progress', '/runs', '/runs?state=completed', '/report'].map((path) => campaign.client.get(`/campaign/${campaign.id}${path}`)),
    );
    return {
      state: record!.body.state,
      counts: record!.body.completed_rows,
      progress: { ...progress!.body, waiting: null },
      rows: rows!.body,
      failed: failed!.body,
      report: report!.body,
    };
  };
  const endedAt = (await env.DB.prepare('SELECT completed_at FROM campaign WHERE id = ?')
    .bind(campaign.id)
    .first<{ completed_at: number }>())!.completed_at;
  // Campaigns of other tests must not be archived before this one.
  await env.DB.prepare('UPDATE campaign SET is_kept = 0 WHERE id <> ?').bind(campaign.id).run();
  const isThere = () =>
    inside(
      campaign.stub(),
      (_, state) => state.storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'campaign_row'").toArray().length > 0,
    );
  return { ...campaign, contact, readAll, endedAt, isThere };
}

test('the rows of an ended campaign move into the archive, are read from there as before, and its object goes', async () => {
  const campaign = await endedCampaign();
  const before = await campaign.readAll();
  expect(before.rows.runs).toHaveLength(2);
  await archiveAt(campaign.endedAt + 90 * dayMs - 1);
  expect(await campaign.isThere()).toBe(true);
  expect(await archiveAt(campaign.endedAt + 90 * dayMs + 1)).toBe(true);
  expect(await campaign.isThere()).toBe(false);
  expect(await campaign.readAll()).toEqual(before);
  expect((await campaign.client.get(`/campaign/${campaign.id}/runs?limit=1&offset=1`)).body.runs).toMatchObject([{ row_number: 2 }]);
  const redial = await campaign.client.post(`/campaign/${campaign.id}/redial`, {});
  expect([redial.status, JSON.stringify(redial.body)]).toEqual([409, expect.stringContaining('archived')]);
  const resumed = await campaign.client.post(`/campaign/${campaign.id}/resume`);
  expect([resumed.status, resumed.body.detail]).toEqual([409, expect.stringContaining(`is ${before.state}`)]);
  const other = await newOrganization();
  expect((await other.client.get(`/campaign/${campaign.id}/runs`)).status).toBe(404);
});

test('a crash between any two steps loses nothing: the next tick goes on', async () => {
  const campaign = await endedCampaign();
  const before = await campaign.readAll();
  const later = campaign.endedAt + 91 * dayMs;
  const files = { put: () => Promise.reject(new Error('R2 is away')) } as unknown as R2Bucket;
  await expect(archiveAt(later, { ...env, FILES: files })).rejects.toThrow('R2 is away');
  expect(await campaign.readAll()).toEqual(before);
  const real = env.CAMPAIGN.getByName.bind(env.CAMPAIGN);
  vi.spyOn(env.CAMPAIGN, 'getByName').mockImplementation((name) => {
    const stub = real(name) as any;
    return {
      progress: () => stub.progress(),
      reportRows: (after: number, limit: number) => stub.reportRows(after, limit),
      deleteArchived: () => Promise.reject(new Error('the object is away')),
    } as never;
  });
  await expect(archiveAt(later)).rejects.toThrow('the object is away');
  vi.restoreAllMocks();
  expect(await campaign.isThere()).toBe(true);
  expect(await campaign.readAll()).toEqual(before);
  expect(await archiveAt(later)).toBe(true);
  expect(await campaign.isThere()).toBe(false);
  expect(await campaign.readAll()).toEqual(before);
  const kept = await env.DB.prepare('SELECT is_kept FROM campaign WHERE id = ?').bind(campaign.id).first();
  expect(kept).toEqual({ is_kept: 0 });
});

test('a deletion of a contact erases it in archived rows, and the rows stay', async () => {
  const campaign = await endedCampaign();
  await archiveAt(campaign.endedAt + 91 * dayMs);
  await env.DB.prepare('UPDATE archive SET created_at = 1 WHERE organization_id = ?').bind(campaign.organizationId).run();
  const lost = dropQueueMessages();
  await campaign.client.delete(`/contacts/${campaign.contact}`);
  lost.restore();
  const context = (await backgroundContext(env, campaign.organizationId, () => undefined))!;
  expect(await eraseContact(context, campaign.contact)).toBe('done');
  const { runs: rows } = (await campaign.client.get(`/campaign/${campaign.id}/runs`)).body;
  expect(rows).toMatchObject([
    { row_number: 1, phone: '', contact_id: null, state: 'completed', variables: {} },
    { row_number: 2, phone: '+12125550001', variables: { first_name: 'Grace' } },
  ]);
});
