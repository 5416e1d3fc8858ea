import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import type { AttemptReport } from '../../src/calls/contract.ts';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { placeCalls } from '../../src/calls/placing/place-calls.ts';
import { callingOrganization, carrierLedger, simulatorsUrl } from '../support/carrier.ts';

afterEach(() => vi.restoreAllMocks());

test(
  'what has not been asked of a slow carrier yet is not reported as "the carrier did not place the call"',
  { tags: 'soak', timeout: 40_000 },
  async () => {
    const reports: AttemptReport[] = [];
    const organization = await callingOrganization({ callsPerSecond: 1000, concurrentCalls: 100 });
    vi.spyOn(env.CAMPAIGN, 'getByName').mockImplementation(
      (name) =>
        ({
          applyReports: async (received: AttemptReport[]) => {
            if (String(name).startsWith(`${organization.id}/`)) reports.push(...structuredClone(received));
          },
        }) as never,
    );
    await fetch(`${simulatorsUrl}/__sim/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        provider: 'twilio',
        match: { method: 'POST', path: `/2010-04-01/Accounts/${organization.account}/Calls.json` },
        times: 100,
        delay_ms: 1400,
      }),
    });
    const slots = env.CALL_SLOTS.getByName(String(organization.id));
    await slots.request(organization.id, {
      owner: { kind: 'campaign', id: 1 },
      epoch: 0,
      maxConcurrency: null,
      calls: Array.from({ length: 40 }, (_, index) => ({
        key: `campaign:1:${index + 1}:1`,
        phone: `+1303555${String(1000 + index)}`,
        agentId: organization.agentId,
        contactId: null,
        initialContext: '{}',
        name: 'A call',
        notAfter: null,
      })),
    });
    await new Promise((resolve) => setTimeout(resolve, 14_000));
    const trouble = reports.filter((report) => report.kind === 'ended' && report.outcome === 'carrier_trouble').map(({ key }) => key);
    const { calls } = await carrierLedger(organization.account);
    const dialled = new Set(calls.map(({ attempt_key }) => attempt_key));
    const both = [...new Set(trouble)].filter((key) => dialled.has(key));
    expect({ trouble: new Set(trouble).size, both }).toEqual({ trouble: 0, both: [] });
  },
);

test('a worker that comes to a call late gives it back unasked, and the call is made once in a later turn', async () => {
  const organization = await callingOrganization({ callsPerSecond: 1000, concurrentCalls: 100 });
  vi.spyOn(env.CAMPAIGN, 'getByName').mockReturnValue({ applyReports: async () => {} } as never);
  const lost = vi.spyOn(env.CALLS_QUEUE, 'send').mockResolvedValue(undefined as never);
  const lostBatch = vi.spyOn(env.CALLS_QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
  const slots = env.CALL_SLOTS.getByName(String(organization.id));
  const key = 'campaign:1:1:1';
  await slots.request(organization.id, {
    owner: { kind: 'campaign', id: 1 },
    epoch: 0,
    maxConcurrency: null,
    calls: [
      {
        key,
        phone: '+13035551999',
        agentId: organization.agentId,
        contactId: null,
        initialContext: '{}',
        name: 'A call',
        notAfter: null,
      },
    ],
  });
  await vi.waitFor(() => expect(lost.mock.calls.length + lostBatch.mock.calls.length).toBeGreaterThan(0), { timeout: 5000 });
  const context = (await backgroundContext(env, organization.id, () => {}))!;
  // The consumer reads the clock in time at first, and is late afterwards.
  let looks = 0;
  await placeCalls({ ...context, clock: () => Date.now() + (looks++ === 0 ? 0 : 60_000) }, [key]);
  expect((await carrierLedger(organization.account)).calls).toEqual([]);
  lost.mockRestore();
  lostBatch.mockRestore();
  await vi.waitFor(async () => expect((await carrierLedger(organization.account)).calls).toMatchObject([{ attempt_key: key }]), {
    timeout: 20_000,
  });
}, 40_000);
