import { expect, test } from 'vitest';
import { readTableOf } from '../contacts/import-reading.ts';
import { callingOrganization, carrierLedger, relayCallbacks } from '../support/carrier.ts';
import { draft, farWindow, rowsRead } from './campaign-service.ts';

let exchange = 300;
/** Phone numbers of a range of their own; their last digits decide what the simulated carrier does. */
function numbers() {
  do exchange += 1;
  while (exchange % 100 === 11 || exchange === 555);
  const prefix = `+1212${exchange}`;
  return { busy: `${prefix}0001`, silent: `${prefix}0002`, broken: `${prefix}0003`, machine: `${prefix}0004` };
}

const once = { retry_config: { enabled: false }, circuit_breaker: { enabled: false } };

type Organization = Awaited<ReturnType<typeof callingOrganization>>;

async function completed({ client, account }: Organization, campaign: number): Promise<any> {
  await client.post(`/campaign/${campaign}/start`);
  await relayCallbacks(account, async () => (await client.get(`/campaign/${campaign}`)).body.state === 'completed');
  return (await client.get(`/campaign/${campaign}`)).body;
}

/** A completed campaign with every kind of failure. */
async function ended() {
  const organization = await callingOrganization();
  const { client, id, agentId } = organization;
  const phones = numbers();
  const file = `phone,name,note\n${phones.busy},Ada,=1+1\n${phones.silent},Bob,"a\nb"\n${phones.broken},Cy,\n${phones.machine},Di,\nx,Ed,\n${phones.busy},Ada,\n`;
  const { id: campaign } = await draft(client, id, file, { name: 'First', workflow_id: agentId, ...once });
  return { ...organization, phones, campaign: campaign as number, record: await completed(organization, campaign) };
}

test('a campaign calls each number once, and rows, report and counts agree', async () => {
  const { client, campaign, phones, account, record } = await ended();
  expect(record).toMatchObject({ total_rows: 6, processed_rows: 6, completed_rows: 0, failed_rows: 5, skipped_rows: 1, in_flight: 0 });
  const { runs } = (await client.get(`/campaign/${campaign}/runs`)).body;
  expect(runs.map((row: any) => [row.phone, row.state, row.outcome, row.attempts, row.run_ids.length])).toEqual([
    [phones.busy, 'failed', 'busy', 1, 1],
    [phones.silent, 'failed', 'no_answer', 1, 1],
    [phones.broken, 'failed', 'failed', 1, 1],
    [phones.machine, 'failed', 'voicemail', 1, 1],
    ['x', 'failed', null, 0, 0],
    [phones.busy, 'skipped', null, 0, 0],
  ]);
  expect((await carrierLedger(account)).calls.map(({ to }) => to).toSorted()).toEqual(Object.values(phones).toSorted());

  const answer = await client.get(`/campaign/${campaign}/report`);
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="campaign-${campaign}.csv"`);
  // A formula in a cell is shown, not run.
  expect(answer.body).toContain(`"'=1+1"`);
  const { headers, rows } = await readTableOf(answer.body);
  expect(headers.slice(-2)).toEqual(['name', 'note']);
  expect(rows.map(({ cells }) => [cells[1], cells[3], cells[4], cells[8], cells[headers.length - 1]])).toEqual(
    runs.map((row: any) => [row.phone, row.state, row.outcome ?? '', row.run_ids.join(' '), row.variables.note]),
  );
});

test('a redial is a draft over the rows that were not reached, with the settings of the old campaign', async () => {
  const { client, campaign, record, phones, account, ...organization } = await ended();
  const redial = await client.post(`/campaign/${campaign}/redial`, { outcomes: ['busy', 'no_answer'] });
  expect([redial.status, redial.body]).toEqual([
    200,
    {
      ...record,
      id: expect.any(Number),
      name: 'First (redial)',
      state: 'draft',
      redial_of: { campaign_id: campaign, outcomes: ['no_answer', 'busy'] },
      total_rows: 2,
      processed_rows: 0,
      failed_rows: 0,
      skipped_rows: 0,
      created_at: expect.any(String),
      started_at: null,
      completed_at: null,
      logs: [],
    },
  ]);
  expect((await client.get(`/campaign/${redial.body.id}`)).body).toEqual(redial.body);
  const before = (await carrierLedger(account)).calls.length;
  await completed({ client, account, ...organization }, redial.body.id);
  const { runs } = (await client.get(`/campaign/${redial.body.id}/runs`)).body;
  expect(runs.map((row: any) => [row.row_number, row.phone, row.outcome, row.variables])).toEqual([
    [1, phones.busy, 'busy', { name: 'Ada', note: '=1+1' }],
    [2, phones.silent, 'no_answer', { name: 'Bob', note: 'a\nb' }],
  ]);
  const dialled = (await carrierLedger(account)).calls.slice(before).map(({ to }) => to);
  expect(dialled.toSorted()).toEqual([phones.busy, phones.silent]);

  const third = await client.post(`/campaign/${redial.body.id}/redial`, { name: 'Last try', outcomes: ['busy'] });
  expect(third.body).toMatchObject({ name: 'Last try', redial_of: { campaign_id: redial.body.id, outcomes: ['busy'] } });
});

test('without outcomes all four are called again; without such a row it is 409', async () => {
  const { client, id, agentId, campaign } = await ended();
  const all = await client.post(`/campaign/${campaign}/redial`);
  expect([all.status, all.body.redial_of.outcomes]).toEqual([200, ['no_answer', 'busy', 'voicemail', 'failed']]);
  expect((await client.post(`/campaign/${campaign}/redial`, { outcomes: null, name: null })).status).toBe(200);

  const { id: nobody } = await draft(client, id, `phone\n${numbers().busy}\nx\n`, { workflow_id: agentId, schedule_config: farWindow() });
  await client.post(`/campaign/${nobody}/start`);
  await rowsRead(client, nobody);
  await client.post(`/campaign/${nobody}/pause`);
  const nothing = await client.post(`/campaign/${nobody}/redial`, { outcomes: ['busy', 'failed'] });
  expect([nothing.status, nothing.body.detail]).toEqual([409, expect.stringContaining('nothing to redial')]);
});

test.each([
  [{ outcomes: ['completed'] }, ['body', 'outcomes', '0']],
  [{ outcomes: [] }, ['body', 'outcomes']],
  [{ outcomes: 'busy' }, ['body', 'outcomes']],
  [{ name: '' }, ['body', 'name']],
])('a redial that cannot be is 422: %j', async (body, loc) => {
  const { client, id } = await callingOrganization();
  const { id: campaign } = await draft(client, id, 'phone\n+12123456001\n');
  const answer = await client.post(`/campaign/${campaign}/redial`, body);
  expect([answer.status, answer.body.detail[0].loc]).toEqual([422, loc]);
});
