import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Miniflare } from 'miniflare';
import { createDemoOrganization } from '../../scripts/local/demo-organization.ts';
import { projectDirectory } from '../../scripts/local/settings.ts';
import { listen } from '../../simulators/listen.ts';
import { connections, quickPace, type Bench } from '../bench.ts';
import { prepareCalling } from '../local/agent.ts';
import { accounts } from '../local/carrier.ts';
import { createJourneys } from '../local/journeys.ts';
import { migrate } from '../local/migrate.ts';
import { startModel } from '../local/model.ts';
import { loadWrangler, newStateDirectory, startWorkers, workerdVersion } from '../local/runtime.ts';
import { readRecordingWorker, type WorkerOptions } from '../local/workers.ts';
import { Client } from '../load.ts';

/** A benchmark of the recording service alone, which stands for all its Workers, and searches vectors in objects of its own. */
export async function prepareGround(progress: Bench['progress']): Promise<Bench> {
  const wrangler = loadWrangler();
  const directory = newStateDirectory();
  const outside = await listen({ port: 0 });
  const model = await startModel();
  let miniflare: Miniflare | undefined;
  let client: Client | undefined;
  const stop = async () => {
    client?.close();
    await miniflare?.dispose();
    await outside.close();
    await model.close();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const config = wrangler.unstable_readConfig({ config: join(projectDirectory, 'wrangler.toml') });
    const standalone = { ...config, userConfigPath: join(directory, 'wrangler.toml'), assets: undefined };
    const configured = wrangler.unstable_getMiniflareWorkerOptions(standalone).workerOptions as unknown as WorkerOptions;
    const worker = await readRecordingWorker(directory, configured, { simulators: outside.url, model: model.url });
    let lines = 0;
    miniflare = await startWorkers(directory, { workers: [worker], handleStructuredLogs: () => lines++ });
    const [origin, database] = [await miniflare.unsafeGetDirectURL('recording'), await miniflare.getD1Database('DB', 'recording')];
    await migrate(database, false);
    client = new Client(origin, connections);
    const headers = { 'x-api-key': await createDemoOrganization(`${origin.origin}/api/v1`, { hasSimulatedCarrier: false }) };
    const journeys = await createJourneys(client, headers, `${outside.url}/receiver`);
    const agent = await prepareCalling(client, headers, accounts.recording);
    return {
      rig: {
        origins: forAll(origin),
        databases: forAll(database),
        outside: outside.url,
        receiver: `${outside.url}/receiver`,
        model,
        loggedLines: () => lines,
        loggedErrors: () => 0,
        tick: async () => client!.call({ method: 'GET', path: '/tick' }),
        workerdVersion: workerdVersion(),
        compatibilityDate: configured.compatibilityDate,
        inspector: undefined,
        stop,
      },
      clients: forAll(client),
      headers,
      agents: { service: agent, recording: agent },
      pace: quickPace,
      progress,
      ...journeys,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const forAll = <Value>(value: Value) => ({ service: value, recording: value, floor: value });
