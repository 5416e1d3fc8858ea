import { runInDurableObject } from 'cloudflare:test';
import { expect, test } from 'vitest';
import { createActiveWorkflow, chain, runStub } from '../support/journeys.ts';
import { newOrganization } from '../support/organization.ts';
import { storedRun, storedTimers } from '../support/stored-run.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('runs that wake while D1 is overloaded for half a minute all complete in the end', { tags: 'soak', timeout: 500_000 }, async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {
    definition: chain(
      { id: 'nap', type: 'wait', data: { duration: 'PT6S' } },
      { id: 'say', type: 'emit_event', data: { event_type: 'said' } },
    ),
  });
  const count = 60;
  const runs: number[] = [];
  for (let n = 0; n < count; n++) runs.push((await client.post(`/automation-workflows/${workflow}/execute`, { context: {} })).body.id);
  let isOverloaded = true;
  for (const run of runs)
    await runInDurableObject(runStub(id, run), (object) => {
      const target = object as unknown as { env: Env };
      const real = target.env;
      const maybe = async () => {
        if (isOverloaded && Math.random() < 0.5) throw new Error('D1_ERROR: D1 DB is overloaded. Requests queued for too long.');
      };
      const wrapped = (statement: D1PreparedStatement): object => ({
        real: statement,
        bind: (...values: unknown[]) => wrapped(statement.bind(...values)),
        all: () => maybe().then(() => statement.all()),
        raw: () => maybe().then(() => statement.raw()),
        run: () => maybe().then(() => statement.run()),
      });
      const database = {
        prepare: (sql: string) => wrapped(real.DB.prepare(sql)),
        batch: (statements: { real: D1PreparedStatement }[]) => maybe().then(() => real.DB.batch(statements.map((one) => one.real))),
      };
      target.env = new Proxy(real, { get: (bindings, name) => (name === 'DB' ? database : Reflect.get(bindings, name)) });
    });
  await pause(36_000);
  isOverloaded = false;
  const look = async () => (await client.get(`/automation-workflows/${workflow}`)).body.active_runs_count as number;
  for (let seconds = 0; seconds < 360 && (await look()) > 0; seconds += 5) {
    await pause(5000);
    if (seconds % 30 === 0) {
      const active = [];
      for (const state of ['running', 'waiting', 'pending', 'queued'])
        for (const run of (await client.get(`/automation-workflows/${workflow}/runs?state=${state}&limit=100`)).body.runs)
          active.push(run.id);
      const reports = [];
      for (const run of active.slice(0, 3))
        reports.push(
          await runInDurableObject(runStub(id, run), async (_object, state) => ({
            run,
            timers: storedTimers(state.storage).map(
              ({ kind, due, attempts }) => `${kind} in ${Math.round((due - Date.now()) / 1000)} s, ${attempts}`,
            ),
            alarm: ((await state.storage.getAlarm()) ?? 0) - Date.now(),
            progress: JSON.stringify(storedRun(state.storage)?.progress)?.slice(0, 160),
          })).catch((error: unknown) => String(error)),
        );
      console.log(seconds, 's after; active', active.length, JSON.stringify(reports));
    }
  }
  const failed = (await client.get(`/automation-workflows/${workflow}/runs?state=failed&limit=100`)).body;
  console.log('failed', failed.total, 'of', count, failed.runs[0]?.error);
  const left = await look();
  expect({ failed: failed.total, left }).toEqual({ failed: 0, left: 0 });
});
