import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { fireSchedules } from '../../src/automation-workflows/triggers/schedules/fire-schedules.ts';
import { shards } from '../../src/database/shards.ts';
import { Logger } from '../../src/library/platform/log.ts';
import { deliver, deliverDeadLettersForADay, dropQueueMessages, tickAt } from '../support/background.ts';
import { createActiveWorkflow, chain, waitForEndedRuns } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

afterEach(async () => {
  vi.restoreAllMocks();
  // Ends all schedules, so that none is due when other tests set their clocks ahead.
  await env.DB.prepare("UPDATE automation_trigger SET state = 'archived', next_fire_at = NULL WHERE type = 'schedule'").run();
});

const minute = 60_000;
const seeing = chain({
  id: 'see',
  type: 'set_context',
  data: { assign: { at: '{{ data.scheduled_at }}', who: '{{ contact.first_name }}' } },
});

async function newSchedule(client: Client, config: Record<string, unknown>, definition: unknown = seeing) {
  const workflow = await createActiveWorkflow(client, { definition });
  const created = await client.post(`/automation-workflows/${workflow}/triggers`, { type: 'schedule', config });
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  const { id, next_fire_at } = created.body;
  const read = async () =>
    (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers.find((one: { id: number }) => one.id === id);
  return { workflow, id: id as number, due: Date.parse(next_fire_at), read };
}

/** Sets the next firing to a moment, as if the service had run until just before it. */
const setDue = (triggerId: number, at: number) =>
  env.DB.prepare('UPDATE automation_trigger SET next_fire_at = ? WHERE id = ?').bind(at, triggerId).run();

const firesOf = async (triggerId: number) =>
  (
    await env.DB.prepare('SELECT scheduled_at, handled_at, note FROM schedule_fire WHERE trigger_id = ? ORDER BY scheduled_at')
      .bind(triggerId)
      .all<{ scheduled_at: number; handled_at: number | null; note: string | null }>()
  ).results;

/** Handles the due schedules as the tick would at this time, which may be years away. A whole tick would make all other records old, too. */
async function schedulesAt(now: number): Promise<void> {
  const deferred: Promise<unknown>[] = [];
  await fireSchedules(env, shards(env)[0]!, now, { log: new Logger('error'), defer: (work) => void deferred.push(work) });
  await Promise.all(deferred);
}

/** The current full minute. */
const lastMinute = () => Math.floor(Date.now() / minute) * minute;

test('next_fire_at is the next time of the cron line in its zone', async () => {
  const { client } = await newOrganization();
  for (const [cron, timezone, isRight] of [
    [
      '30 9 * * 1-5',
      'America/New_York',
      (date: Date) =>
        date.toLocaleString('en-US', { timeZone: 'America/New_York', hour: '2-digit', minute: '2-digit', hour12: false }) === '09:30',
    ],
    ['0 0 1 1 *', 'UTC', (date: Date) => date.toISOString().endsWith('-01-01T00:00:00.000Z')],
    ['*/15 * * * *', 'Asia/Kathmandu', (date: Date) => date.getUTCMinutes() % 15 === 0],
  ] as const) {
    const { due } = await newSchedule(client, { cron, timezone });
    expect(due).toBeGreaterThan(Date.now());
    expect(isRight(new Date(due)), `${cron} ${timezone}: ${new Date(due).toISOString()}`).toBe(true);
  }
});

test('a due minute fires once, however often and however late the tick comes, and the trigger tells when', async () => {
  const { client } = await newOrganization();
  const { workflow, id, due, read } = await newSchedule(client, { cron: '0 * * * *' });
  await schedulesAt(due - 1000);
  expect(await firesOf(id)).toEqual([]);
  await Promise.all([schedulesAt(due), schedulesAt(due + 100), schedulesAt(due + 4000)]);
  await schedulesAt(due + 2 * minute);
  const [run] = await waitForEndedRuns(client, workflow, 1);
  expect(run).toMatchObject({
    trigger_id: id,
    contact_id: null,
    initial_context: { scheduled_at: new Date(due).toISOString() },
    context: { at: new Date(due).toISOString() },
  });
  expect(await firesOf(id)).toMatchObject([{ scheduled_at: due, handled_at: expect.any(Number), note: null }]);
  expect(await read()).toMatchObject({
    next_fire_at: new Date(due + 60 * minute).toISOString(),
    fire_count: 1,
    last_fired_at: expect.any(String),
  });
  await schedulesAt(due + 60 * minute);
  await waitForEndedRuns(client, workflow, 2);
});

test('of several missed minutes only the last fires, if it is still on time or catch-up is on', async () => {
  const { client } = await newOrganization();
  const now = lastMinute() + 365 * 86_400_000;
  const midnight = now - (now % 86_400_000);
  const skipping = await newSchedule(client, { cron: '0 0 * * *' });
  const catching = await newSchedule(client, { cron: '0 0 * * *', catch_up: 'once' });
  const everyMinute = await newSchedule(client, { cron: '* * * * *' });
  for (const { id } of [skipping, catching, everyMinute]) await setDue(id, midnight - 3 * 86_400_000);
  const late = midnight + 3 * 3_600_000;
  await schedulesAt(late);
  await schedulesAt(late + 1000);
  expect(await firesOf(skipping.id)).toEqual([]);
  expect((await firesOf(catching.id)).map((fire) => fire.scheduled_at)).toEqual([midnight]);
  expect((await firesOf(everyMinute.id)).map((fire) => fire.scheduled_at)).toEqual([late]);
  for (const schedule of [skipping, catching])
    expect((await schedule.read()).next_fire_at).toBe(new Date(midnight + 86_400_000).toISOString());
  await waitForEndedRuns(client, catching.workflow, 1);
});

test('when the clock goes back, a repeated local time fires once; when it goes forward, a skipped one fires after the gap', async () => {
  const { client } = await newOrganization();
  const utc = (text: string) => Date.parse(`${text}Z`);
  const daily = { cron: '30 1 * * *', timezone: 'America/New_York' };
  const autumn = await newSchedule(client, daily);
  await setDue(autumn.id, utc('2027-11-06T05:30'));
  // 7 November 2027: 01:30 is shown at 05:30 and again at 06:30 UTC.
  for (const at of ['2027-11-06T05:30', '2027-11-07T05:30', '2027-11-07T06:30', '2027-11-08T06:30']) await schedulesAt(utc(at));
  expect((await firesOf(autumn.id)).map((fire) => new Date(fire.scheduled_at).toISOString().slice(0, 16))).toEqual([
    '2027-11-06T05:30',
    '2027-11-07T05:30',
    '2027-11-08T06:30',
  ]);
  const spring = await newSchedule(client, { cron: '30 2 * * *', timezone: 'America/New_York' });
  await setDue(spring.id, utc('2028-03-11T07:30'));
  // 12 March 2028: there is no 02:30; the clock goes from 02:00 to 03:00 at 07:00 UTC.
  for (const at of ['2028-03-11T07:30', '2028-03-12T06:30', '2028-03-12T07:00', '2028-03-12T07:30', '2028-03-13T06:30'])
    await schedulesAt(utc(at));
  expect((await firesOf(spring.id)).map((fire) => new Date(fire.scheduled_at).toISOString().slice(0, 16))).toEqual([
    '2028-03-11T07:30',
    '2028-03-12T07:00',
    '2028-03-13T06:30',
  ]);
});

test('an audience of twelve hundred fires one run for each member, in pages, and none twice', { tags: 'soak' }, async () => {
  const { client, id: organizationId } = await newOrganization();
  const contacts = Array.from({ length: 1200 }, (_, index) => ({ phone: newPhone(), first_name: `Person ${index}` }));
  const { body: list } = await client.post('/contacts/lists', { name: 'Members' });
  const { body: upserted } = await client.post('/contacts/bulk-upsert', { list_name: 'Members', contacts });
  await client.post('/contacts', { phone: newPhone() });
  await client.delete(`/contacts/${upserted.contacts[7].id}`);
  const { workflow, id, due } = await newSchedule(client, { cron: '0 * * * *', audience: { list_id: list.id } });
  // The objects of the runs are not started, since this test does not need their steps.
  const resting = vi.spyOn(env.AUTOMATION_RUN, 'getByName').mockReturnValue({ start: async () => 'started' } as never);
  const lost = dropQueueMessages();
  await schedulesAt(due);
  const message = { v: 1, kind: 'schedule_fire', organization_id: organizationId, trigger_id: id, scheduled_at: due };
  expect(vi.mocked(env.FANOUT_QUEUE.sendBatch).mock.calls.flatMap(([messages]) => [...messages])).toContainEqual({ body: message });
  const sent = vi.mocked(env.FANOUT_QUEUE.send);
  for (let page = 1; page <= 12; page++) {
    sent.mockClear();
    // The message of a handled page, when it comes again, continues with the next page, and no run starts twice.
    await deliver('fanout', [message]);
    const ours = sent.mock.calls.filter(([body]) => (body as { organization_id?: number }).organization_id === organizationId);
    expect(ours.length, `page ${page}`).toBe(page < 12 ? 1 : 0);
  }
  await deliver('fanout', [message]);
  lost.restore();
  resting.mockRestore();
  const counted = await env.DB.prepare(
    'SELECT count(*) AS runs, count(DISTINCT contact_id) AS people FROM automation_run WHERE workflow_id = ?',
  )
    .bind(workflow)
    .first();
  expect(counted).toEqual({ runs: 1199, people: 1199 });
  expect(await firesOf(id)).toMatchObject([{ note: null, handled_at: expect.any(Number) }]);
  await env.DB.prepare('DELETE FROM automation_run WHERE workflow_id = ?').bind(workflow).run();
});

test('a run for a member has its contact, and an empty or deleted list fires no run', async () => {
  const { client } = await newOrganization();
  const { body: list } = await client.post('/contacts/lists', { name: 'Members' });
  const contact = (await client.post('/contacts', { phone: newPhone(), first_name: 'Ada' })).body.id;
  const { workflow, id, due } = await newSchedule(client, { cron: '0 * * * *', audience: { list_id: list.id } });
  await schedulesAt(due);
  await vi.waitFor(async () => expect(await firesOf(id)).toMatchObject([{ handled_at: expect.any(Number) }]));
  await client.post(`/contacts/lists/${list.id}/contacts`, { contact_ids: [contact] });
  await schedulesAt(due + 60 * minute);
  expect((await waitForEndedRuns(client, workflow, 1))[0]).toMatchObject({
    contact_id: contact,
    entry_key: String(contact),
    context: { who: 'Ada' },
  });
  await client.delete(`/contacts/lists/${list.id}`);
  await schedulesAt(due + 120 * minute);
  await vi.waitFor(async () => expect((await firesOf(id)).map((fire) => fire.handled_at !== null)).toEqual([true, true, true]));
  expect((await client.get(`/automation-workflows/${workflow}/runs`)).body.total).toBe(1);
});

test('the tick sends a firing again whose message is lost; a firing of an inactive workflow says so', async () => {
  const { client } = await newOrganization();
  const swept = await newSchedule(client, { cron: '0 * * * *' });
  const resting = await newSchedule(client, { cron: '0 * * * *' });
  const lost = dropQueueMessages();
  await schedulesAt(swept.due);
  lost.restore();
  await client.patch(`/automation-workflows/${resting.workflow}`, { status: 'paused' });
  await env.DB.prepare('UPDATE schedule_fire SET created_at = ? WHERE trigger_id IN (?, ?)')
    .bind(Date.now() - minute, swept.id, resting.id)
    .run();
  await tickAt(Date.now());
  await waitForEndedRuns(client, swept.workflow, 1);
  await vi.waitFor(async () =>
    expect(await firesOf(resting.id)).toMatchObject([{ note: expect.stringContaining('inactive'), handled_at: expect.any(Number) }]),
  );
  expect((await client.get(`/automation-workflows/${resting.workflow}/runs`)).body.total).toBe(0);
});

test('a firing that was given up has a note that says so', async () => {
  const { client, id: organizationId } = await newOrganization();
  const { id, due } = await newSchedule(client, { cron: '0 * * * *' });
  const lost = dropQueueMessages();
  await schedulesAt(due);
  await deliverDeadLettersForADay('fanout-dead', organizationId, [
    { v: 1, kind: 'schedule_fire', organization_id: organizationId, trigger_id: id, scheduled_at: due },
  ]);
  lost.restore();
  expect(await firesOf(id)).toMatchObject([{ note: expect.stringContaining('given_up'), handled_at: expect.any(Number) }]);
});

test('one schedule that cannot be read delays no other', async () => {
  const { client } = await newOrganization();
  const broken = await newSchedule(client, { cron: '0 * * * *' });
  const sound = await newSchedule(client, { cron: '0 * * * *' });
  await env.DB.prepare(`UPDATE automation_trigger SET config = '{"cron":"0 * * * *","timezone":"Gone/Zone"}' WHERE id = ?`)
    .bind(broken.id)
    .run();
  await schedulesAt(sound.due);
  await waitForEndedRuns(client, sound.workflow, 1);
  await client.delete(`/automation-workflows/triggers/${broken.id}`);
});
