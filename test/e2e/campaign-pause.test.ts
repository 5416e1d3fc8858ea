import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallCampaigns } from './call-campaigns.ts';
import { readLedger } from './call-ledger.ts';
import { CampaignSampler } from './campaign-sampler.ts';
import { faultsOfLedger, faultsOfRows, faultsOfRuns } from './campaign-verification.ts';
import { KillLog } from './kill-log.ts';
import type { KillableService } from './killable-service.ts';
import { narration } from './narration.ts';
import { seededRandom } from './seeded-random.ts';
import { tickOften, until } from './service-watch.ts';
import { csvOf, peopleOf } from './soak-people.ts';
import { killSeed, startSoakService, storedRuns } from './soak-service.ts';

const rows = 500;
const maxConcurrency = 100;
const lastDialAfterMs = 1000;
const quietMs = 4000;

const seed = killSeed();
const random = seededRandom(seed);
const say = narration();
const people = peopleOf(rows, { answer_lost: 20, disordered: 20 }, random);

let service: KillableService;
let campaigns: CallCampaigns;

beforeAll(async () => {
  say(`KILL_SEED=${seed} pauses and kills after the same times again`);
  ({ service, campaigns } = await startSoakService(maxConcurrency, { SIM_RING_MS: '200-1500', SIM_TURN_MS: '50-500' }));
});
afterAll(() => service?.remove());

test(
  'a campaign dials nothing later than a second after its pause, even if it is killed meanwhile, and goes on when it is resumed',
  {
    timeout: 400_000,
  },
  async () => {
    const stopTicking = tickOften(service);
    const killing = new KillLog(service, say);
    const sourceId = await campaigns.upload(csvOf(people));
    const id = await campaigns.create({ name: 'Summer', source_type: 'csv', source_id: sourceId, max_concurrency: maxConcurrency });
    const sampler = new CampaignSampler(service, id, { rows, maxConcurrency, organization: maxConcurrency });
    await campaigns.act(id, 'start');

    for (const isKilled of [false, true]) {
      const { length: before } = (await readLedger(service)).calls;
      await until(service, 'it calls at full speed', 60, async () => (await readLedger(service)).calls.length > before + 150);
      await sleep(random() * 300);
      expect(await campaigns.act(id, 'pause')).toMatchObject({ state: 'paused' });
      const pausedAt = Date.now();
      if (isKilled) {
        sampler.isDown = true;
        await sleep(random() * 300);
        await killing.killAndStart();
        sampler.isDown = false;
      }
      await sleep(quietMs);
      const { calls } = await readLedger(service);
      const late = calls.filter(({ created_at: at }) => at > pausedAt + lastDialAfterMs);
      const after = Math.max(0, ...calls.map(({ created_at: at }) => at - pausedAt));
      say(`paused after ${calls.length} calls${isKilled ? ', then killed' : ''}; the last was placed ${after} ms after the answer`);
      expect(late, 'calls that were placed although it was paused').toEqual([]);
      expect(calls.length, 'it was paused while it called').toBeLessThan(rows);
      expect(await campaigns.stateOf(id)).toBe('paused');
      expect(await campaigns.act(id, 'resume')).toMatchObject({ state: 'running' });
    }
    await until(service, 'the campaign has completed', 150, async () => sampler.last?.record.state === 'completed');
    await sampler.stop();
    expect(sampler.faults).toEqual([]);
    await until(service, 'every talk is settled', 60, () => campaigns.areSettled());
    await stopTicking();

    const [ledger, { downtimes }] = [await readLedger(service), killing];
    const evidence = {
      campaignId: id,
      people,
      rows: await campaigns.rowsOf(id),
      runs: storedRuns(service),
      ledger,
      maxConcurrency,
      downtimes,
    };
    say(`${ledger.calls.length} calls, ${ledger.peak_concurrent} at once at the most`);
    expect(faultsOfLedger(evidence)).toEqual([]);
    expect(faultsOfRows(evidence)).toEqual([]);
    expect(faultsOfRuns(evidence)).toEqual([]);
    expect(ledger.peak_concurrent).toBeLessThanOrEqual(maxConcurrency);
  },
);
