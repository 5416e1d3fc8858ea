import { expect, test } from 'vitest';
import { ended, goTo, keyOf, monday, newActionId, people, returned, rowAt, settle, standAt, standingCampaign } from './live-campaigns.ts';

test('two changes of a paused campaign at once are both kept', async () => {
  const campaign = await standingCampaign();
  await campaign.stub().pause(newActionId());
  await standAt(campaign, monday + 1000);
  const patch = (body: object) => campaign.client.patch(`/campaign/${campaign.id}`, body);
  const answers = await Promise.all([patch({ retry_config: { max_retries: 7 } }), patch({ circuit_breaker: { window_seconds: 77 } })]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  const { body } = await campaign.client.get(`/campaign/${campaign.id}`);
  expect([body.retry_config.max_retries, body.circuit_breaker.window_seconds]).toEqual([7, 77]);
});

test('an invalid change is refused by a paused campaign as by a draft', async () => {
  const campaign = await standingCampaign();
  await campaign.stub().pause(newActionId());
  const patch = (body: object) => campaign.client.patch(`/campaign/${campaign.id}`, body);
  const noSlots = await patch({ schedule_config: { enabled: true, slots: [] } });
  expect([noSlots.status, noSlots.body.detail[0].loc.slice(0, 2)]).toEqual([422, ['body', 'schedule_config']]);
  expect((await patch({ max_concurrency: 1000 })).status).toBe(400);
});

test('a wider schedule counts for rows that wait for a window of the old one', async () => {
  const slots = [{ day_of_week: 0, start_time: '11:00', end_time: '12:30' }];
  const schedule_config = { enabled: true, timezone: 'UTC', slots, use_contact_timezone: false };
  const campaign = await standingCampaign({ configs: { schedule_config } });
  await standAt(campaign, monday + 31 * 60_000);
  await campaign.stub().applyReports(campaign.slots.keys().map((key) => returned(key, 'window_closed')));
  await settle(campaign);
  expect(await rowAt(campaign, 1)).toMatchObject({ state: 'scheduled', next_attempt_at: monday - 3_600_000 + 7 * 86_400_000 });
  await campaign.stub().pause(newActionId());
  await campaign.stub().change({ configs: { ...campaign.all, schedule_config: { ...schedule_config, enabled: false } } });
  await campaign.stub().resume(newActionId());
  await goTo(campaign, monday + 40 * 60_000);
  expect((await rowAt(campaign, 1)).state).toBe('pending');
});

test('retries that the rules no longer allow end with the outcome that they followed', async () => {
  const campaign = await standingCampaign({ csv: people(3) });
  await campaign
    .stub()
    .applyReports([
      ended(keyOf(campaign, 1), 'busy'),
      ended(keyOf(campaign, 2), 'no_answer'),
      ended(keyOf(campaign, 3), 'carrier_trouble'),
    ]);
  await campaign.stub().pause(newActionId());
  await campaign.stub().change({ configs: { retry_config: { retry_on_busy: false } } });
  expect(await rowAt(campaign, 1)).toMatchObject({
    state: 'failed',
    outcome: 'busy',
    reason: 'busy: the settings ask for no retry',
    next_attempt_at: null,
  });
  expect(await rowAt(campaign, 2)).toMatchObject({ state: 'scheduled' });
  await campaign.stub().change({ configs: { retry_config: { max_retries: 0 } } });
  expect(await rowAt(campaign, 2)).toMatchObject({ state: 'failed', outcome: 'no_answer', reason: 'no_answer: on the last of 1 attempt' });
  expect(await rowAt(campaign, 3)).toMatchObject({ state: 'scheduled' });
});

test('a retry that comes back after such a change ends as well', async () => {
  const campaign = await standingCampaign({ csv: people(2) });
  await campaign.stub().applyReports([ended(keyOf(campaign, 1), 'busy')]);
  await goTo(campaign, monday + 120_000);
  await campaign.stub().pause(newActionId());
  await campaign.stub().change({ configs: { retry_config: { enabled: false } } });
  await campaign.stub().applyReports([returned(keyOf(campaign, 1, 2), 'withdrawn'), returned(keyOf(campaign, 2), 'withdrawn')]);
  expect(await rowAt(campaign, 1)).toMatchObject({ state: 'failed', outcome: 'busy' });
  expect(await rowAt(campaign, 2)).toMatchObject({ state: 'pending' });
});

test('progress names no next window and the log no closed one while one is open', async () => {
  const schedule_config = {
    enabled: true,
    timezone: 'UTC',
    slots: [{ day_of_week: 0, start_time: '11:00', end_time: '13:00' }],
    use_contact_timezone: true,
  };
  const campaign = await standingCampaign({
    csv: 'phone,timezone\n+12125550000,UTC\n+12125550001,America/New_York\n',
    configs: { schedule_config },
  });
  expect(campaign.slots.keys()).toEqual([keyOf(campaign, 1)]);
  const progress = (await campaign.stub().progress())!;
  const { logs } = (await campaign.stub().snapshot())!;
  expect({ next: progress.next_window_at, events: logs.map(({ event }) => event) }).toEqual({ next: null, events: ['synced', 'started'] });
});
