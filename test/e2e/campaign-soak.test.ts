import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallCampaigns } from './call-campaigns.ts';
import { readLedger } from './call-ledger.ts';
import { CampaignSampler } from './campaign-sampler.ts';
import { faultsOfLedger, faultsOfRows, faultsOfRuns, isUnattended } from './campaign-verification.ts';
import { makeTrouble } from './carrier-trouble.ts';
import { KillLog } from './kill-log.ts';
import { verifyCallStatistics, verifyUsageStatistics } from './full-count.ts';
import type { KillableService } from './killable-service.ts';
import { narration } from './narration.ts';
import { seededRandom } from './seeded-random.ts';
import { tickOften, until } from './service-watch.ts';
import { csvOf, peopleOf, type Mix } from './soak-people.ts';
import { killSeed, startSoakService, storedRuns } from './soak-service.ts';

const rows = 2000;
const kills = 6;
const maxConcurrency = 200;
const organization = 250;
const mix: Mix = {
  busy: 80,
  no_answer: 80,
  failed: 40,
  voicemail: 60,
  first_post_fails: 50,
  answer_lost: 60,
  hangs_up: 60,
  disordered: 80,
  end_untold: 60,
  suppressed: 10,
  duplicate: 10,
  bad_phone: 10,
};

const seed = killSeed();
const random = seededRandom(seed);
const say = narration();
const people = peopleOf(rows, mix, random);

let service: KillableService;
let campaigns: CallCampaigns;
let killing: KillLog;

beforeAll(async () => {
  say(`KILL_SEED=${seed} kills after the same rows again`);
  ({ service, campaigns } = await startSoakService(organization, { SIM_RING_MS: '200-1500', SIM_TURN_MS: '50-500' }));
  killing = new KillLog(service, say);
});
afterAll(() => service?.remove());

/** The first kill comes while the rows are read or the first calls begin, the others somewhere in their share of the first two thirds. */
const killPlan = Array.from({ length: kills }, (_, kill) => ({
  after: kill === 0 ? 0 : Math.round(((kill - random()) / (kills - 1)) * rows * 0.65),
  thenMs: random() * 1000,
}));

/** Requires that the sums were always exact, no attempt was dialled twice, and no more calls were live than allowed. */
async function expectSoundness(sampler: CampaignSampler): Promise<void> {
  expect(sampler.faults).toEqual([]);
  const { attempts_dialled_twice: twice, peak_concurrent: peak } = await readLedger(service);
  expect(twice, 'attempts that were dialled twice').toEqual([]);
  expect(peak, 'calls at once').toBeLessThanOrEqual(maxConcurrency);
}

async function killOften(sampler: CampaignSampler): Promise<void> {
  for (const { after, thenMs } of killPlan) {
    await until(service, `${after} rows are processed`, 120, async () => (sampler.last?.progress.processed_rows ?? 0) >= after);
    await sleep(thenMs);
    expect(sampler.last?.record.state, 'before a kill').not.toBe('completed');
    sampler.isDown = true;
    await killing.killAndStart();
    sampler.isDown = false;
    await expectSoundness(sampler);
  }
}

test(
  'a campaign that is killed with -9 at random moments, with a failing carrier, loses no row and dials nobody twice',
  {
    timeout: 600_000,
  },
  async () => {
    const stopTicking = tickOften(service);
    for (const { kind, phone } of people) if (kind === 'suppressed') await campaigns.post('/contacts/suppressions', { phone });
    const sourceId = await campaigns.upload(csvOf(people));
    const id = await campaigns.create({ name: 'Spring', source_type: 'csv', source_id: sourceId, max_concurrency: maxConcurrency });

    const startedAt = Date.now();
    const sampler = new CampaignSampler(service, id, { rows, maxConcurrency, organization });
    await campaigns.act(id, 'start');
    const stopTrouble = makeTrouble(service, 100, seededRandom(seed + 1));
    await killOften(sampler);
    const troubles = await stopTrouble();
    await until(service, 'the campaign has completed', 300, async () => sampler.last?.record.state === 'completed');
    const tookMs = Date.now() - startedAt;
    await sampler.stop();
    await expectSoundness(sampler);
    await until(service, 'every talk is settled', 60, () => campaigns.areSettled());
    await stopTicking();

    const { downtimes } = killing;
    const ledger = await readLedger(service);
    const runs = storedRuns(service);
    const evidence = { campaignId: id, people, rows: await campaigns.rowsOf(id), runs, ledger, maxConcurrency, downtimes };
    const unattended = ledger.calls.filter((call) => isUnattended(call, downtimes)).length;
    const downMs = downtimes.reduce((sum, { from, to }) => sum + to - from, 0);
    say(
      `${rows} rows in ${(tookMs / 1000).toFixed(1)} s, ${(downMs / 1000).toFixed(1)} s of them down; ${kills} kills met ${[...killing.met]}`,
    );
    say(`${ledger.calls.length} calls, ${ledger.calls.filter(({ sockets }) => sockets > 0).length} with a talk, ${unattended} unattended`);
    say(`${ledger.peak_concurrent} calls at once at the most, ${sampler.samples} samples, ${troubles} troubles of the carrier`);
    expect(faultsOfLedger(evidence)).toEqual([]);
    expect(faultsOfRows(evidence)).toEqual([]);
    expect(faultsOfRuns(evidence)).toEqual([]);
    expect(sampler.maxLive, 'so many calls that the limit counts').toBeGreaterThan(maxConcurrency * 0.95);
    expect(sampler.last!.progress).toMatchObject({ in_flight: 0, waiting: { queued: 0, live: 0, organization_live: 0 } });
    expect((await campaigns.runs()).total).toBe(runs.length);
    const read = (path: string) => campaigns.read(path);
    await verifyUsageStatistics(service, read);
    say(`statistics equal a full count of ${await verifyCallStatistics(service, read)} calls`);
    const report = String(await campaigns.read(`/campaign/${id}/report`));
    expect(report.trim().split('\r\n')).toHaveLength(rows + 1);
  },
);
