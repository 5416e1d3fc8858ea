import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { placeCalls } from '../../src/calls/placing/place-calls.ts';
import { draft } from '../campaigns/campaign-service.ts';
import { callingOrganization as carrierOrganization, carrierLedger } from '../support/carrier.ts';

afterEach(() => vi.restoreAllMocks());

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('a pause while calls are being placed counts as no carrier trouble, and resume goes on', async () => {
  const organization = await carrierOrganization({ callsPerSecond: 100, concurrentCalls: 20 });
  const { client, id, account, agentId } = organization;
  vi.spyOn(env.CALLS_QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
  const csv = `phone\n${Array.from({ length: 8 }, (_, index) => `+1212555${2000 + index}`).join('\n')}\n`;
  const campaign = await draft(client, id, csv, { workflow_id: agentId });
  expect((await client.post(`/campaign/${campaign.id}/start`)).status).toBe(200);
  const slots = env.CALL_SLOTS.getByName(String(id));
  const keys = Array.from({ length: 8 }, (_, index) => `campaign:${campaign.id}:${index + 1}:1`);
  const granted = () =>
    vi.waitFor(async () => expect(await slots.getOwnerStatus({ kind: 'campaign', id: campaign.id })).toMatchObject({ live: 8 }), {
      timeout: 10_000,
      interval: 20,
    });
  await granted();
  const context = (await backgroundContext(env, id, (work) => void work))!;
  const database = new Proxy(context.database, {
    get: (target, name) => {
      const value = Reflect.get(target, name, target);
      if (name === 'batch')
        return async (statements: never) => {
          const answer = await target.batch(statements);
          await client.post(`/campaign/${campaign.id}/pause`);
          await sleep(300);
          return answer;
        };
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  await placeCalls({ ...context, database }, keys);
  await vi.waitFor(
    async () => expect((await client.get(`/campaign/${campaign.id}`)).body).toMatchObject({ state: 'paused', in_flight: 0 }),
    {
      timeout: 10_000,
    },
  );
  expect((await carrierLedger(account)).calls).toEqual([]);
  expect((await client.post(`/campaign/${campaign.id}/resume`)).body.state).toBe('running');
  await granted();
  // The runs of the first keys are stored, and ended undialled.
  await placeCalls(
    context,
    keys.map((key) => key.replace(/1$/, '2')),
  );
  const { body } = await client.get(`/campaign/${campaign.id}`);
  const rows = (await client.get(`/campaign/${campaign.id}/runs`)).body.runs;
  expect({ state: body.state, reason: body.state_reason, rows: rows.map((row: any) => row.reason) }).toMatchObject({
    state: 'running',
    reason: null,
  });
  expect((await carrierLedger(account)).calls).toHaveLength(8);
});
