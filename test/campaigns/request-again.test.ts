import { expect, test } from 'vitest';
import { dialing, ended, goTo, keyOf, monday, returned, rowAt, settle, standingCampaign } from './live-campaigns.ts';

const wide = (count: number) =>
  `phone,notes\n${Array.from({ length: count }, (_, index) => `+1212${5_550_000 + index},${'x'.repeat(5000)}`).join('\n')}\n`;

test('repeated requests name the requested attempts, and no later ones', async () => {
  const campaign = await standingCampaign({ csv: wide(300), configs: { max_concurrency: 100 } });
  const last = Math.max(...campaign.slots.keys().map((key) => Number(key.split(':')[2])));
  expect(last).toBeGreaterThan(200);
  const before = campaign.slots.requests.length;
  // While the first batch is requested again, the last row's person is called and reached.
  let isDone = false;
  campaign.slots.watched = async (call) => {
    const answer = await call();
    if (campaign.slots.requests.length > before && !isDone) {
      isDone = true;
      const key = keyOf(campaign, last);
      await campaign.stub().applyReports([dialing(key), ended(key, 'completed')]);
    }
    return answer;
  };
  await goTo(campaign, monday + 10 * 60_000);
  expect(await rowAt(campaign, last)).toMatchObject({ state: 'completed' });
  const asked = campaign.slots.requests.slice(before).flatMap(({ calls }) => calls.map(({ key, notAfter }) => [key, notAfter]));
  expect(asked.filter(([key]) => String(key).endsWith(`:${last}:2`))).toEqual([]);
});

test('a row whose call ends while others are requested again waits for its retry delay', async () => {
  const campaign = await standingCampaign({ csv: wide(300), configs: { max_concurrency: 100 } });
  const last = Math.max(...campaign.slots.keys().map((key) => Number(key.split(':')[2])));
  const key = keyOf(campaign, last);
  await campaign.stub().applyReports([dialing(key)]);
  const before = campaign.slots.requests.length;
  let isDone = false;
  campaign.slots.watched = async (call) => {
    const answer = await call();
    if (campaign.slots.requests.length > before && !isDone) {
      isDone = true;
      await campaign.stub().applyReports([ended(key, 'busy')]);
    }
    return answer;
  };
  await goTo(campaign, monday + 10 * 60_000);
  const asked = campaign.slots.requests.slice(before).flatMap(({ calls }) => calls.map((call) => call.key));
  expect(asked).not.toContain(keyOf(campaign, last, 2));
});

test('a call that was given back with its key spent is requested under the next key, and has used up no attempt', async () => {
  const campaign = await standingCampaign({ csv: 'phone\n+12125550000\n' });
  await campaign.stub().applyReports([dialing(keyOf(campaign, 1)), returned(keyOf(campaign, 1), 'too_soon', monday + 60_000, true)]);
  expect(await rowAt(campaign, 1)).toMatchObject({ state: 'scheduled', attempts: 0 });
  await goTo(campaign, monday + 60_000);
  expect(campaign.slots.keys()).toEqual([keyOf(campaign, 1), keyOf(campaign, 1, 2)]);
  await campaign.stub().applyReports([{ ...dialing(keyOf(campaign, 1, 2)), at: 1 }]);
  expect(await rowAt(campaign, 1)).toMatchObject({ state: 'dialing' });
});

test('a row that is dialled after it was given back is on the page of its state, and is requested again at intervals', async () => {
  const campaign = await standingCampaign({ csv: 'phone\n+12125550000\n' });
  await campaign.stub().applyReports([returned(keyOf(campaign, 1), 'too_soon', monday + 3_600_000), dialing(keyOf(campaign, 1))]);
  expect(await campaign.stub().rows({ state: 'dialing', limit: 5, offset: 0 })).toMatchObject({ total: 1, rows: [{ id: 1 }] });
  await settle(campaign);
  await goTo(campaign, monday + 10 * 60_000);
  expect(campaign.slots.requests.at(-1)!.calls.map(({ key, notAfter }) => [key, notAfter])).toEqual([[keyOf(campaign, 1), 0]]);
});

test('reports of the next attempt count, whatever clock those of the attempt before had', async () => {
  const campaign = await standingCampaign({ csv: 'phone\n+12125550000\n' });
  await campaign.stub().applyReports([ended(keyOf(campaign, 1), 'busy', { at: monday + 86_400_000 })]);
  await goTo(campaign, monday + 120_000);
  await campaign.stub().applyReports([{ ...dialing(keyOf(campaign, 1, 2)), at: monday }]);
  expect(await rowAt(campaign, 1)).toMatchObject({ state: 'dialing' });
});
