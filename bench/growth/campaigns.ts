import { countsOf, type Account } from '../account/account.ts';
import { mapCounts } from '../account/operations.ts';
import type { Bench } from '../bench.ts';
import { Campaign, toCampaignFile, waitUntil } from '../cases/campaigns.ts';

/** Rows of the large campaign at the scale 1, and of the ten that call at once together. */
const rowsAtScale = 1000;
const besides = 10;
const maxConcurrency = 5;
/** So many rows of each campaign are dialled to count what one costs: a pause withdraws what was requested and not dialled. */
const dialledRows = 40;
const readingLimitMs = 600_000;

/** A whole day, three days from now: until it is changed, a campaign with it runs and dials nobody. */
const closed = () => ({
  schedule_config: {
    enabled: true,
    timezone: 'UTC',
    use_contact_timezone: false,
    slots: [{ day_of_week: (new Date().getUTCDay() + 2) % 7, start_time: '00:00', end_time: '24:00' }],
  },
});
const open = { schedule_config: { enabled: false } };

/** Counts what a large campaign uses, and ten that share the organization's slots, each with a tenth of its rows. */
export async function measureCampaigns(bench: Bench, scale: number): Promise<Account> {
  const account: Account = {};
  const count = async (name: string, work: () => Promise<unknown>, of: () => number = () => 1) => {
    const counts = await countsOf(bench, { work, spread: 0 });
    account[name] = { counts: mapCounts((operation) => Number((counts[operation] / of()).toFixed(4))), spread: 0 };
    bench.progress(`Counted: ${name}`);
  };
  const rows = rowsAtScale * scale;
  const large = await draft(bench, 0, rows);
  await count(
    'A row that a campaign reads from its file',
    () => startAndRead(large, rows),
    () => rows,
  );
  await count('The progress of the campaign', () => large.progress());
  await count('A page of 50 of its rows', () => large.load('/runs?limit=50'));
  await count(
    'A row in its report',
    () => large.load('/report'),
    () => rows,
  );
  await count('The campaign is paused', () => large.act('pause'));
  await count('The campaign is resumed', () => large.act('resume'));
  await large.act('pause');
  await large.change(open);
  await count(
    'A row of it that is dialled, its line busy',
    () => dial([large]),
    () => dialled,
  );
  await count(
    'A row that is left when it is cancelled',
    () => large.act('cancel'),
    () => rows,
  );

  const several: Campaign[] = [];
  for (let index = 0; index < besides; index++) several.push(await draft(bench, (index * rows) / besides, rows / besides));
  for (const campaign of several) {
    await startAndRead(campaign, rows / besides);
    await campaign.act('pause');
    await campaign.change(open);
  }
  await count(
    `A row of ${besides} campaigns at once that is dialled`,
    () => dial(several),
    () => dialled,
  );
  for (const campaign of several) await campaign.act('cancel');
  return account;
}

const draft = (bench: Bench, from: number, rows: number) =>
  Campaign.draft(bench, 'recording', toCampaignFile(from, rows, 'busy'), maxConcurrency, closed());

async function startAndRead(campaign: Campaign, rows: number): Promise<void> {
  await campaign.act('start');
  const isRead = async () => {
    const { state, total_rows } = await campaign.read();
    return state === 'running' && total_rows === rows;
  };
  await waitUntil('all rows are read', readingLimitMs, isRead, 250);
}

let dialled = 0;

/** Has paused campaigns dial, until enough rows have ended, and pauses them again. */
async function dial(campaigns: Campaign[]): Promise<void> {
  const ended = async () => {
    let sum = 0;
    for (const campaign of campaigns) sum += (await campaign.read()).processed_rows;
    return sum;
  };
  const before = await ended();
  for (const campaign of campaigns) await campaign.act('resume');
  await waitUntil('rows are dialled', readingLimitMs, async () => (await ended()) - before >= dialledRows * campaigns.length, 250);
  for (const campaign of campaigns) await campaign.act('pause');
  await campaigns[0]!.untilQuiet();
  dialled = (await ended()) - before;
}
