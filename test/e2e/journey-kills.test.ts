import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listReceivedRequests, runsBySituation, situations } from './kill-evidence.ts';
import { expectedRuns, gates, kills, KillTraffic } from './kill-traffic.ts';
import { journeyNames, verifyRuns, verifyStatistics, verifySteps, verifyTraces } from './kill-verification.ts';
import { verifyTools } from './kill-tools.ts';
import { KillableService } from './killable-service.ts';
import { narration } from './narration.ts';
import { seededRandom } from './seeded-random.ts';
import { shortTimeouts } from './soak-service.ts';
import { tickOften, until } from './service-watch.ts';

const seed = Number(process.env['KILL_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const random = seededRandom(seed);
const between = (low: number, high: number) => low + random() * (high - low);

const say = narration();

let service: KillableService;
let traffic: KillTraffic;

beforeAll(async () => {
  say(`KILL_SEED=${seed} kills after the same delays again`);
  service = await KillableService.create({ ...shortTimeouts, RATE_LIMIT_REQUESTS: '6000' }, { SIM_RING_MS: '300-1500' });
  traffic = new KillTraffic(service, random);
  await traffic.prepare();
});
afterAll(() => service?.remove());

/** Runs whose request may or may not have taken effect. A person checks the other side and retries the run. */
const unknownRuns = new Set<number>();

async function retryUnknown(): Promise<void> {
  const { runs } = await traffic.read('/automation-workflows/runs?state=failed&limit=500');
  for (const { id, error, current_node_id: nodeId } of runs) {
    expect(error).toMatchObject({ type: 'unknown', node_id: nodeId, message: expect.stringMatching(/not (done|sent) again/) });
    expect(['charge', 'once', 'note', 'shout']).toContain(nodeId);
    // The row of a run that was had go on before a kill is behind for some seconds.
    const wentOnBefore = unknownRuns.has(id);
    unknownRuns.add(id);
    const answer = await traffic.sender.send({ method: 'POST', path: `/automation-workflows/runs/${id}/retry`, body: {} });
    if (answer.status === 200) continue;
    expect(answer.status, JSON.stringify(answer.body)).toBe(409);
    expect(answer.isRepeated || wentOnBefore, JSON.stringify(answer.body)).toBe(true);
  }
}

async function killAndStart(kill: number): Promise<string[]> {
  await service.kill();
  const census = runsBySituation(service.stateDirectory);
  say(`kill ${kill + 1} of ${kills}: ${situations.map((situation) => `${census.get(situation) ?? 0} ${situation}`).join(', ')}`);
  await service.start();
  say('started again');
  return [...census.keys()];
}

const passed = async () => (await listReceivedRequests(service)).filter(({ node }) => node === 'pass');

test('a service killed with -9 at random moments loses no run and repeats no side effect', { timeout: 280_000 }, async () => {
  const stopTicking = tickOften(service);
  const sending: Promise<void>[] = [];
  const inBackground = (work: Promise<void>) => {
    work.catch(() => undefined);
    sending.push(work);
  };
  // One after the other: two at once would find the same run.
  let retrying = Promise.resolve();
  const met = new Set<string>();
  let resumedAt = 0;
  await traffic.arrive();
  for (let kill = 0; kill < kills; kill++) {
    if (kill === 1) {
      await until(service, 'every gate is waited at', 30, async () => {
        const waiting = (await traffic.runsOf('gate')).filter(({ state }) => state === 'waiting');
        return waiting.length === gates;
      });
      await traffic.setStatus('gate', 'paused');
    }
    if (kill === 2)
      await until(service, 'every gate is held', 30, async () => (await traffic.runsOf('gate')).every(({ hold }) => hold === 'paused'));
    inBackground(traffic.sendAround(kill));
    if (kill > 0) inBackground((retrying = retrying.then(retryUnknown)));
    await traffic.startSlowOnes(kill);
    if (kill === 3) {
      expect(await passed(), 'nothing of a paused journey happens').toEqual([]);
      resumedAt = Date.now();
      inBackground(traffic.setStatus('gate', 'active'));
    }
    await sleep(kill === 3 ? between(0, 400) : between(200, 2500));
    for (const situation of await killAndStart(kill)) met.add(situation);
  }
  await Promise.all(sending);
  await traffic.payRest();
  say(`everything is sent; ${traffic.sender.unanswered} requests got no answer`);
  expect([...met].toSorted(), 'situations that a kill met').toEqual([...situations].toSorted());

  await until(service, 'every run has completed', 100, async () => {
    await retryUnknown();
    const records = await Promise.all(journeyNames.map((name) => traffic.read(`/automation-workflows/${traffic.workflows[name]}`)));
    const areAllThere = journeyNames.every((name, index) => records[index].runs_count >= expectedRuns[name]);
    const areOver = records.every(({ active_runs_count: active }) => active === 0);
    return areAllThere && areOver && (await traffic.read('/automation-workflows/runs?state=failed')).total === 0;
  });
  await stopTicking();

  const runs = await verifyRuns(service, traffic);
  await verifyTools(
    service,
    runs.filter(({ automation_workflow_id: workflow }) => workflow === traffic.workflows.order),
    unknownRuns,
  );
  say(`${runs.length} runs, each there once and completed, ${unknownRuns.size} of them by a retry after they were unknown`);
  for (const run of runs.filter((one) => one.automation_workflow_id === traffic.workflows.slow))
    expect(unknownRuns.has(run.id), JSON.stringify(run)).toBe(run.initial_context.careful);
  const { asked, repeated, triedAgain, paths } = await verifySteps(service, traffic, runs);
  say(`${asked} requests, ${repeated} of them repeated under their key, ${triedAgain} failed and tried again`);
  expect(repeated).toBeGreaterThanOrEqual(kills);
  for (const { at } of await passed()) expect(at).toBeGreaterThanOrEqual(resumedAt);
  await verifyTraces(service, traffic);
  const calls = await verifyStatistics(service, traffic, paths);
  say(`statistics equal a full count of ${runs.length} runs and ${calls} calls`);
});
