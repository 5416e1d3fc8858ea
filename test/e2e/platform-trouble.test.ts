import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { CallCampaigns } from './call-campaigns.ts';
import { readLedger } from './call-ledger.ts';
import { faultsOfLedger, faultsOfRows, faultsOfRuns } from './campaign-verification.ts';
import { verifyTools } from './kill-tools.ts';
import { expectedRuns, kills as rounds, KillTraffic } from './kill-traffic.ts';
import { journeyNames, verifyRuns, verifySteps, verifyTraces } from './kill-verification.ts';
import type { KillableService } from './killable-service.ts';
import { narration } from './narration.ts';
import { seededRandom } from './seeded-random.ts';
import { tickOften, until } from './service-watch.ts';
import { csvOf, peopleOf, type Mix } from './soak-people.ts';
import { killSeed, shortTimeouts, storedRuns } from './soak-service.ts';
import { createTroubledService, setTrouble, type TroubleCounts } from './troubled-service.ts';

const inTrouble = { refuse: 0.05, lose: 0.01 };
const sound = { refuse: 0, lose: 0 };
const maxAnswerMs = 20_000;

/** The carrier is looked at when the slowest of its answers would have come. */
const patient = { ...shortTimeouts, CALL_UNKNOWN_AFTER_SECONDS: '12', CALL_LOOK_AGAIN_SECONDS: '4' };

const seed = killSeed();
const say = narration();

let service: KillableService | undefined;
afterEach(() => service?.remove());

/** Has the carrier take up to 20 s for each of the next requests to place a call. */
async function slowDown(of: KillableService, times: number, random: () => number): Promise<void> {
  const match = { method: 'POST', path: '/2010-04-01/Accounts/*/Calls.json' };
  for (let n = 0; n < times; n++) {
    const delay_ms = Math.round(random() * maxAnswerMs);
    const answer = await of.call({
      method: 'POST',
      path: `${of.simulators}/__sim/faults`,
      body: { provider: 'twilio', match, delay_ms },
    });
    expect(answer.status).toBe(201);
  }
}

const figures = ({ calls, refused, lost }: TroubleCounts): string =>
  `${calls} calls to the database, ${refused} refused (${((100 * refused) / calls).toFixed(1)} %), ${lost} answers lost (${((100 * lost) / calls).toFixed(1)} %)`;

test(
  'journeys do everything once and never fail while the database refuses calls and loses answers and the carrier is slow',
  { timeout: 280_000 },
  async () => {
    const random = seededRandom(seed);
    say(`KILL_SEED=${seed}`);
    service = await createTroubledService({ ...patient, PLAN_CONCURRENT_CALLS: '150' }, { SIM_RING_MS: '300-1500' });
    const traffic = new KillTraffic(service, random);
    await traffic.prepare();
    await new CallCampaigns(service).prepare();
    await slowDown(service, 30, random);
    await setTrouble(service, inTrouble);
    const startedAt = Date.now();
    const stopTicking = tickOften(service);
    await traffic.arrive();
    for (let round = 0; round < rounds; round++) await Promise.all([traffic.sendAround(round), traffic.startSlowOnes(round, 5000)]);
    await traffic.payRest();
    say(`everything is sent; ${traffic.sender.unanswered} requests got no answer, ${traffic.sender.refused} a 5xx`);
    await until(service, 'every run has ended', 150, async () => {
      const records = await Promise.all(journeyNames.map((name) => traffic.read(`/automation-workflows/${traffic.workflows[name]}`)));
      const areAllThere = journeyNames.every((name, index) => records[index].runs_count >= expectedRuns[name]);
      return areAllThere && records.every(({ active_runs_count: active }) => active === 0);
    });
    const tookMs = Date.now() - startedAt;
    const counts = await setTrouble(service, sound);
    const failed = (await traffic.read('/automation-workflows/runs?state=failed&limit=100')).runs;
    await stopTicking();
    say(`${(tookMs / 1000).toFixed(1)} s; ${figures(counts)}`);
    say(`${failed.length} runs failed`);
    expect(failed.map(({ id, error }: any) => ({ id, error }))).toEqual([]);

    const runs = await verifyRuns(service, traffic);
    await verifyTools(
      service,
      runs.filter(({ automation_workflow_id: workflow }) => workflow === traffic.workflows.order),
      new Set(),
    );
    const { asked, repeated, triedAgain } = await verifySteps(service, traffic, runs);
    const { calls } = await readLedger(service);
    say(`${runs.length} runs, each there once and completed; ${asked} requests, ${repeated} of them repeated, ${triedAgain} tried again`);
    say(`${calls.length} calls for ${expectedRuns.order} orders, none dialled twice`);
    // The receiver fails the first try of each visit, and nothing else may cost an attempt.
    expect(triedAgain).toBe(expectedRuns.visit);
    expect(repeated).toBe(0);
    await verifyTraces(service, traffic);
    expect(counts.refused / counts.calls).toBeGreaterThan(0.03);
    expect(counts.lost).toBeGreaterThan(10);
  },
);

const rows = 60;
const maxConcurrency = 40;
const mix: Mix = {
  busy: 3,
  no_answer: 3,
  voicemail: 2,
  hangs_up: 2,
  disordered: 3,
  end_untold: 2,
  suppressed: 2,
  duplicate: 2,
  bad_phone: 2,
};

test(
  'a campaign calls everybody once while the database refuses calls and loses answers and the carrier is slow',
  { timeout: 280_000 },
  async () => {
    const random = seededRandom(seed + 1);
    service = await createTroubledService({ ...patient, PLAN_CONCURRENT_CALLS: '150' }, { SIM_RING_MS: '200-1500', SIM_TURN_MS: '50-500' });
    const campaigns = new CallCampaigns(service);
    await campaigns.prepare();
    const people = peopleOf(rows, mix, random);
    await slowDown(service, rows, random);
    await setTrouble(service, inTrouble);
    const startedAt = Date.now();
    const stopTicking = tickOften(service);
    for (const { kind, phone } of people) if (kind === 'suppressed') await campaigns.post('/contacts/suppressions', { phone });
    const sourceId = await campaigns.upload(csvOf(people));
    const id = await campaigns.create({ name: 'Spring', source_type: 'csv', source_id: sourceId, max_concurrency: maxConcurrency });
    await campaigns.act(id, 'start');
    await until(service, 'the campaign has completed', 180, async () => {
      await sleep(500);
      return (await campaigns.stateOf(id)) === 'completed';
    });
    await until(service, 'every talk is settled', 60, () => campaigns.areSettled());
    const tookMs = Date.now() - startedAt;
    const counts = await setTrouble(service, sound);
    await stopTicking();
    const ledger = await readLedger(service);
    const evidence = {
      campaignId: id,
      people,
      rows: await campaigns.rowsOf(id),
      runs: storedRuns(service),
      ledger,
      maxConcurrency,
      downtimes: [],
    };
    say(`${rows} rows in ${(tookMs / 1000).toFixed(1)} s; ${figures(counts)}`);
    say(
      `${ledger.calls.length} calls, ${ledger.attempts_dialled_twice.length} dialled twice, ${ledger.peak_concurrent} at once at the most`,
    );
    expect(ledger.attempts_dialled_twice).toEqual([]);
    expect(faultsOfLedger(evidence)).toEqual([]);
    expect(faultsOfRows(evidence)).toEqual([]);
    expect(faultsOfRuns(evidence)).toEqual([]);
    expect(counts.refused).toBeGreaterThan(10);
  },
);
