import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import type { Actor } from '../../src/database/audit/actor.ts';
import { faultyDatabase } from '../support/faulty-database.ts';
import { goTo, inside, monday, newActionId, people, refusal, rowOf, standingCampaign, until, type Drafted } from './live-campaigns.ts';

const actorOf = ({ organizationId, id }: Drafted, userId: number, action: string): Actor => ({
  organizationId,
  requestId: crypto.randomUUID(),
  action: `campaigns.${action}`,
  userId,
  credential: `key:${userId}`,
  address: null,
  at: monday + userId,
  record: { type: 'campaign', id: String(id) },
  isSummary: false,
});

/** The entries of a campaign, the oldest first: `[user id, action, each changed field]`. */
async function entriesOf({ organizationId }: Drafted): Promise<unknown[]> {
  const { results } = await env.DB.prepare(
    "SELECT user_id, action, change FROM audit_entry WHERE organization_id = ? AND record_type = 'campaign' ORDER BY id",
  )
    .bind(organizationId)
    .all<{ user_id: number; action: string; change: string }>();
  return results.map(({ user_id, action, change }) => [user_id, action, JSON.parse(change)]);
}

const changed = (before: unknown, after: unknown) => ({ before, after });

/** Has the writes of the campaign's row refused until the answered function is called. */
async function refuseRow(campaign: Drafted): Promise<() => void> {
  let isRefused = true;
  await inside(campaign.stub(), (object) => {
    const real = object.env;
    const DB = faultyDatabase(real.DB, (sql) => (isRefused && /update "?campaign"?/i.test(sql) ? 'refused' : null));
    object.env = new Proxy(real, { get: (target, name) => (name === 'DB' ? DB : Reflect.get(target, name)) });
  });
  return () => {
    isRefused = false;
  };
}

const storedState = (campaign: Drafted): Promise<unknown> =>
  inside(campaign.stub(), (_object, state) => state.storage.sql.exec('SELECT state FROM campaign').one()['state']);

describe('two people who change a campaign at the same time', () => {
  test('have an entry each: a pause that another resumes before its row shows it, and the resume', async () => {
    const campaign = await standingCampaign({ csv: people(30), configs: { max_concurrency: 1 } });
    let isHeld = true;
    let calls = 0;
    campaign.slots.watched = async (call) => {
      // The first call is the withdrawal of the pause. Objects cannot wait for an event of the test.
      if (++calls === 1) while (isHeld) await new Promise((resolve) => setTimeout(resolve, 2));
      return call();
    };
    const pausing = campaign.stub().pause(newActionId(), actorOf(campaign, 7, 'pause'));
    await until(async () => expect([await storedState(campaign), calls]).toEqual(['paused', 1]));
    await campaign.stub().resume(newActionId(), actorOf(campaign, 8, 'resume'));
    const entries = [
      [7, 'campaigns.pause', { state: changed('running', 'paused') }],
      [8, 'campaigns.resume', { state: changed('paused', 'running') }],
    ];
    expect(await entriesOf(campaign)).toEqual(entries);
    isHeld = false;
    await pausing;
    expect(await entriesOf(campaign)).toEqual(entries);
  });

  test('have an entry each in their order, although the row could not be written in between', async () => {
    const campaign = await standingCampaign();
    const allow = await refuseRow(campaign);
    const stub = campaign.stub();
    await refusal(stub.pause(newActionId(), actorOf(campaign, 7, 'pause')));
    await refusal(stub.change({ name: 'Summer' }, actorOf(campaign, 8, 'update')));
    await refusal(stub.resume(newActionId(), actorOf(campaign, 9, 'resume')));
    await refusal(stub.cancel(newActionId(), actorOf(campaign, 7, 'cancel')));
    expect(await entriesOf(campaign)).toEqual([]);
    allow();
    await goTo(campaign, monday + 600_000);
    expect(await entriesOf(campaign)).toEqual([
      [7, 'campaigns.pause', { state: changed('running', 'paused') }],
      [8, 'campaigns.update', { name: changed('Spring', 'Summer') }],
      [9, 'campaigns.resume', { state: changed('paused', 'running') }],
      [7, 'campaigns.cancel', { state: changed('running', 'cancelled') }],
    ]);
    expect(await rowOf(campaign.id)).toMatchObject({ state: 'cancelled', name: 'Summer', completed_at: monday });
  });
});

describe('what the service itself does to a campaign is in the name of nobody', () => {
  test('when it pauses the campaign before the row shows that a person has resumed it', async () => {
    const campaign = await standingCampaign();
    const stub = campaign.stub();
    await stub.pause(newActionId(), actorOf(campaign, 7, 'pause'));
    const allow = await refuseRow(campaign);
    await refusal(stub.resume(newActionId(), actorOf(campaign, 8, 'resume')));
    await refusal(stub.pauseForArchivedAgent());
    allow();
    await goTo(campaign, monday + 600_000);
    expect(await entriesOf(campaign)).toEqual([
      [7, 'campaigns.pause', { state: changed('running', 'paused') }],
      [8, 'campaigns.resume', { state: changed('paused', 'running') }],
    ]);
    expect(await rowOf(campaign.id)).toMatchObject({ state: 'paused', state_reason: 'agent_archived' });
  });

  test('when it has paused the campaign, and a person cancels before the row shows the pause', async () => {
    const campaign = await standingCampaign();
    const allow = await refuseRow(campaign);
    await refusal(campaign.stub().pauseForArchivedAgent());
    await refusal(campaign.stub().cancel(newActionId(), actorOf(campaign, 7, 'cancel')));
    allow();
    await goTo(campaign, monday + 600_000);
    expect(await entriesOf(campaign)).toEqual([
      [7, 'campaigns.cancel', { state: changed('paused', 'cancelled'), state_reason: changed('agent_archived', null) }],
    ]);
  });
});

test('a change that is shown again after a lost answer has one entry', async () => {
  const campaign = await standingCampaign();
  let losses = 0;
  await inside(campaign.stub(), (object) => {
    const real = object.env;
    const DB = faultyDatabase(real.DB, (sql) => (/update "?campaign"?/i.test(sql) && losses++ < 4 ? 'lost' : null));
    object.env = new Proxy(real, { get: (target, name) => (name === 'DB' ? DB : Reflect.get(target, name)) });
  });
  await refusal(campaign.stub().pause(newActionId(), actorOf(campaign, 7, 'pause')));
  await goTo(campaign, monday + 600_000);
  expect(losses).toBeGreaterThan(3);
  expect(await entriesOf(campaign)).toEqual([[7, 'campaigns.pause', { state: changed('running', 'paused') }]]);
});
