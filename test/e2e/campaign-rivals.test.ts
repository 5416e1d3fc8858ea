import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallCampaigns } from './call-campaigns.ts';
import { callsAtHalf, inTwoCalls, laneOf, readLedger } from './call-ledger.ts';
import { faultsOfLedger, faultsOfRows, faultsOfRuns } from './campaign-verification.ts';
import { verifyCallStatistics, verifyUsageStatistics } from './full-count.ts';
import { KillLog } from './kill-log.ts';
import type { KillableService } from './killable-service.ts';
import { narration } from './narration.ts';
import { seededRandom, shuffled } from './seeded-random.ts';
import { tickOften, until } from './service-watch.ts';
import { csvOf, peopleOf, type Person } from './soak-people.ts';
import { killSeed, startSoakService, storedRuns } from './soak-service.ts';

const count = 200;
const limit = 40;
const owners = 3;
const minShare = 1 / 5;
const contactsAFiring = 100;

const seed = killSeed();
const random = seededRandom(seed);
const say = narration();
const people = peopleOf(count, { busy: 10, voicemail: 10, disordered: 20 }, random);
/** The same people in another order. */
const others = shuffled(people, random).map((person, index): Person => ({ ...person, rowNumber: index + 1 }));

let service: KillableService;
let campaigns: CallCampaigns;

beforeAll(async () => {
  say(`KILL_SEED=${seed} kills after the same time again`);
  ({ service, campaigns } = await startSoakService(limit, { SIM_RING_MS: '200-1000', SIM_TURN_MS: '50-500' }));
});
afterAll(() => service?.remove());

/** Active, fired by hand for contacts. */
async function createJourney(): Promise<{ id: number; triggerId: number }> {
  const outcomes = ['completed', 'busy', 'voicemail', 'failed'];
  const { id } = await campaigns.post('/automation-workflows/', {
    name: 'Call',
    definition: {
      nodes: [
        { id: 'in', type: 'trigger', data: {} },
        {
          id: 'call',
          type: 'voice_call',
          data: { workflow_id: campaigns.agentId, initial_context: { first_name: '{{ contact.first_name }}' } },
        },
        ...outcomes.map((outcome) => ({ id: outcome, type: 'exit', data: { outcome } })),
      ],
      edges: [
        { id: 'begin', source: 'in', target: 'call' },
        ...outcomes.map((outcome) => ({ id: `then-${outcome}`, source: 'call', source_handle: outcome, target: outcome })),
      ],
    },
    trigger: { type: 'manual', config: {} },
  });
  await campaigns.sender.send({ method: 'PATCH', path: `/automation-workflows/${id}`, body: { status: 'active' } });
  const { triggers } = await campaigns.read(`/automation-workflows/${id}/triggers`);
  return { id, triggerId: triggers[0].id };
}

/** Creates the contacts in a list; returns their ids in the order of `people`. */
async function createContacts(): Promise<{ ids: number[]; listId: number }> {
  const contacts = people.map(({ phone, firstName }) => ({ phone, first_name: firstName }));
  const { created, contacts: records } = await campaigns.post('/contacts/bulk-upsert', { list_name: 'Everybody', contacts });
  expect(created).toBe(count);
  const { lists } = await campaigns.read('/contacts/lists');
  return { ids: records.map(({ id }: { id: number }) => id), listId: lists[0].id };
}

test(
  'two campaigns and a journey that call the same people never have anybody in two calls, and each gets its share',
  {
    timeout: 400_000,
  },
  async () => {
    const stopTicking = tickOften(service);
    const journey = await createJourney();
    const { ids, listId } = await createContacts();
    const sourceId = await campaigns.upload(csvOf(others));
    const ofFile = await campaigns.create({ name: 'File', source_type: 'csv', source_id: sourceId, max_concurrency: limit });
    const ofList = await campaigns.create({ name: 'List', source_type: 'contact_list', source_id: String(listId), max_concurrency: limit });

    const startedAt = Date.now();
    const path = `/automation-workflows/${journey.id}/triggers/${journey.triggerId}/fire`;
    const firings = [ids.slice(0, contactsAFiring), ids.slice(contactsAFiring)];
    await Promise.all([
      ...firings.map((contact_ids) => campaigns.post(path, { contact_ids })),
      campaigns.act(ofFile, 'start'),
      campaigns.act(ofList, 'start'),
    ]);
    const killing = new KillLog(service, say);
    const killAfter = Math.round((0.6 + random() * 0.2) * owners * count);
    await until(service, `${killAfter} calls have been placed`, 150, async () => (await readLedger(service)).calls.length >= killAfter);
    await sleep(random() * 500);
    await killing.killAndStart();
    await until(service, 'everybody has been called', 150, async () => {
      const states = await Promise.all([ofFile, ofList].map((id) => campaigns.stateOf(id)));
      const { active_runs_count: active } = await campaigns.read(`/automation-workflows/${journey.id}`);
      return states.every((state) => state === 'completed') && active === 0;
    });
    const tookMs = Date.now() - startedAt;
    await until(service, 'every talk is settled', 60, () => campaigns.areSettled());
    await stopTicking();

    const [ledger, { downtimes }, runs] = [await readLedger(service), killing, storedRuns(service)];
    const shares = callsAtHalf(ledger.calls);
    say(`${ledger.calls.length} calls in ${(tookMs / 1000).toFixed(1)} s, ${ledger.peak_concurrent} at once at the most`);
    say(`at half of them: ${[...shares].map(([lane, calls]) => `${calls} of ${lane}`).join(', ')}`);
    expect(ledger.attempts_dialled_twice).toEqual([]);
    expect(inTwoCalls(ledger.calls)).toEqual([]);
    expect(ledger.peak_concurrent).toBeLessThanOrEqual(limit);
    expect(shares.size).toBe(owners);
    for (const [lane, calls] of shares) expect(calls, `${lane} at half`).toBeGreaterThanOrEqual((ledger.calls.length / 2) * minShare);
    for (const [campaignId, sought] of [
      [ofFile, others],
      [ofList, people],
    ] as const) {
      const rows = await campaigns.rowsOf(campaignId);
      const evidence = { campaignId, people: sought, rows, runs, ledger, maxConcurrency: limit, downtimes };
      expect(faultsOfLedger(evidence)).toEqual([]);
      expect(faultsOfRows(evidence)).toEqual([]);
      expect(faultsOfRuns(evidence)).toEqual([]);
    }
    const { runs: journeys, total } = await campaigns.read(`/automation-workflows/${journey.id}/runs?limit=500`);
    expect(total).toBe(count);
    const dialled = new Set(ledger.calls.filter((call) => laneOf(call) === 'journey').map(({ to }) => to));
    for (const { state, outcome, context, contact_id: contactId } of journeys) {
      const { phone } = people[ids.indexOf(contactId)]!;
      expect({ state, context }).toMatchObject({ state: 'completed', context: { steps: { call: { outcome } } } });
      // A journey does not repeat a call whose placing a kill prevented: the call counts as failed.
      if (!dialled.has(phone))
        expect(context.steps.call, phone).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(/^carrier_trouble: ./) });
    }
    const read = (address: string) => campaigns.read(address);
    await verifyUsageStatistics(service, read);
    await verifyCallStatistics(service, read);
    say(`${count - dialled.size} calls of the journey were not placed because of the kill`);
  },
);
