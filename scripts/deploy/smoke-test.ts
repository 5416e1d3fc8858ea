import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from '../local/settings.ts';
import type { DeploymentCredentials } from './first-organization.ts';
import type { DeploymentContext } from './deployment-context.ts';

const journeyName = 'Deployment check';
const eventType = 'deployment_check';
const externalId = 'deployment-check';

const journey = {
  name: journeyName,
  description: 'Each deployment runs this once, to see that events start runs. Archive it if you like; the next one makes it again.',
  trigger: { type: 'contact_event', config: { event_types: [eventType] } },
  definition: {
    nodes: [
      { id: 'start', type: 'trigger' },
      { id: 'end', type: 'exit', data: { outcome: 'well' } },
    ],
    edges: [{ id: 'e1', source: 'start', target: 'end' }],
  },
};

/** Tests the address as a whole: health, a contact, and an event that completes a run, through queue and Durable Object. */
export async function smokeTest(world: DeploymentContext): Promise<string> {
  const { address, files, environment, smokeTestTimeoutMs } = world;
  const api = `${address}/api/v1`;
  const deadline = Date.now() + smokeTestTimeoutMs;
  const health = await until(deadline, async () => {
    const answer = await ask(world, 'GET', `${api}/health`);
    if (answer.status !== 200) throw new LocalError(`GET ${api}/health answers ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  });
  const apiKey = environment.API_KEY || files.read<DeploymentCredentials>('credentials')?.api_key;
  if (!apiKey) return `version ${health.version} is well; set API_KEY to have a contact, an event and a run tried, too`;
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await ask(world, method, api + path, body, apiKey);
    if (answer.status < 300) return answer.body;
    throw new LocalError(`${method} ${api}${path} answers ${answer.status}: ${JSON.stringify(answer.body).slice(0, 500)}`);
  };
  const contact = { list_name: journeyName, external_id: externalId, first_name: 'Deployment' };
  await until(deadline, () => call('POST', '/contacts/upsert', contact));
  const journeys = await call('GET', `/automation-workflows?status=active&search=${encodeURIComponent(journeyName)}`);
  let workflow = journeys.automation_workflows?.find((found: { name: string }) => found.name === journeyName);
  if (workflow === undefined) {
    workflow = await call('POST', '/automation-workflows', journey);
    await call('PATCH', `/automation-workflows/${workflow.id}`, { status: 'active' });
  }
  const startedAt = Date.now();
  const deployment = `deployment-${startedAt}`;
  await call('POST', '/events', { event_type: eventType, event_id: deployment, external_id: externalId, data: { deployment } });
  await until(deadline, async () => {
    const { runs } = await call('GET', `/automation-workflows/${workflow.id}/runs?limit=10`);
    const run = runs.find((found: { context?: { deployment?: string } }) => found.context?.deployment === deployment);
    if (run?.state === 'completed') return;
    throw new LocalError(
      `The event ${deployment} was taken, and its run is ${run?.state ?? 'not there yet'}; look at "npx wrangler tail".`,
    );
  });
  return `version ${health.version} is well: a contact, an event, and a run completed ${((Date.now() - startedAt) / 1_000).toFixed(1)} s later`;
}

async function ask(
  { send }: DeploymentContext,
  method: string,
  url: string,
  body?: unknown,
  apiKey?: string,
): Promise<{ status: number; body: any }> {
  const response = await send(url, {
    method,
    headers: { ...(apiKey ? { 'x-api-key': apiKey } : {}), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await response.text();
  try {
    return { status: response.status, body: JSON.parse(text) };
  } catch {
    return { status: response.status, body: text.slice(0, 300) };
  }
}

/** A new address, and new code, take a while to be everywhere. */
async function until<T>(deadline: number, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() >= deadline) throw error instanceof LocalError ? error : new LocalError((error as Error).message);
      await sleep(1_000);
    }
  }
}
