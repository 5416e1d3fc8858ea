import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CallSlotsObject } from '../../durable-objects/call-slots/call-slots-object.ts';
import type { App } from '../../src/library/connectable-apps.ts';
import {
  answeredRun,
  callStub,
  CarrierSocket,
  waitForCompletedRun,
  readCallFile,
  waitUntilDestroyed,
  callEnd,
  stubOutsideServices,
  type CallStub,
} from '../support/calls.ts';
import { listIssues, readPostedMessages } from '../support/connected-tools.ts';
import type { CrashWatch } from '../support/crashing-object.ts';
import { crashCallObjectAt } from '../support/crashing-call.ts';
import { connectIntegration, setAccountStatus, planFault } from '../support/integrations.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { realFetch } from '../support/real-fetch.ts';

beforeEach(() => void vi.spyOn(CallSlotsObject.prototype, 'markFinalized').mockResolvedValue(undefined));
afterEach(() => vi.restoreAllMocks());

const { COMPOSIO_BASE_URL: broker } = env as unknown as Record<string, string>;
const channel = 'C0000000001';
const defaults: Partial<Record<App, object>> = { chatapp: { channel }, tracker: { project: 'OPS' } };

interface Options {
  /** The settings of each connected tool; absent: the usual channel or project. */
  tools?: Partial<Record<'chatapp' | 'tracker' | 'calendar', object>>;
  says?: string;
  outcome?: 'completed' | 'voicemail';
  contact?: object;
}

/** An organization with these tools, and a call on which the person has talked. */
async function talked({ tools = {}, says = 'Yes, I am interested', contact }: Options = {}) {
  const organization = await newOrganization();
  const { client } = organization;
  const integrations = new Map<string, any>();
  for (const [provider, settings] of Object.entries(tools)) {
    const integration = await connectIntegration(client, provider as App);
    const chosen = await client.put(`/integration/${integration.id}`, settings);
    expect(chosen.status, JSON.stringify(chosen.body)).toBe(200);
    integrations.set(provider, integration);
  }
  const person = contact && (await client.post('/contacts', { phone: newPhone(), ...contact })).body;
  const run = await answeredRun(person ? { contactId: person.id } : {}, organization);
  await run.stub.begin(run.organizationId, run.runId);
  const carrier = await CarrierSocket.open(run.stub, 'VX1');
  await carrier.waitForUtterances(1);
  carrier.say(says);
  await carrier.waitForUtterances(2);
  return { ...run, client, integrations, person };
}

type Talked = Awaited<ReturnType<typeof talked>>;

/** Ends the line, and waits until all follow-up work is done. */
async function settled({ organizationId, runId, stub }: Talked, change: Parameters<typeof callEnd>[0] = {}): Promise<void> {
  await stub.callEnded(organizationId, runId, callEnd(change));
  await waitForCompletedRun(runId);
  await waitUntilDestroyed(stub);
}

const eventsOf = async ({ organizationId, runId }: Talked): Promise<{ type: string; payload: any }[]> =>
  (await readCallFile(organizationId, runId, 'logs.json')).events.filter(({ type }: { type: string }) => type.startsWith('call_summary'));

const sql = (stub: CallStub, statement: string, ...parameters: (string | number)[]) =>
  runInDurableObject(stub, (_object, { storage }) => storage.sql.exec(statement, ...parameters).toArray());

const integrationOf = async (client: Client, id: number) => (await client.get('/integration/')).body.find((one: any) => one.id === id);

describe('the summary of a call', () => {
  test('is posted to the chosen channel and created as an issue in the chosen project, once each', async () => {
    stubOutsideServices();
    const call = await talked({ tools: defaults, contact: { first_name: 'Ada <!channel>', last_name: 'Lovelace' } });
    await settled(call);
    const posted = await readPostedMessages(call.organizationId);
    expect(posted).toHaveLength(1);
    const [title, ...lines] = posted[0]!.text.split('\n');
    expect(posted[0]!.channel).toBe(channel);
    expect(title).toBe(`*Call with Ada &lt;!channel&gt; Lovelace (${call.phone}): interested*`);
    expect(lines.slice(0, 4)).toEqual(['Agent: Sales', 'Outcome: completed', 'Disposition: interested', 'Duration: 20 s']);
    expect(lines.at(-1)).toContain(`Run ${call.runId}`);
    const issues = await listIssues(call.organizationId);
    expect(issues).toMatchObject([
      { summary: `Call with Ada <!channel> Lovelace (${call.phone}): interested`, issuetype: { name: 'Task' } },
    ]);
    expect(JSON.stringify(issues[0].description)).toContain('Disposition: interested');
    const ids = { chatapp: call.integrations.get('chatapp').id, tracker: call.integrations.get('tracker').id };
    expect(await eventsOf(call)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          type: 'call_summary_posted',
          payload: { integration_id: ids.chatapp, try: 1, channel, ts: expect.any(String) },
        }),
        expect.objectContaining({
          type: 'call_summary_posted',
          payload: { integration_id: ids.tracker, try: 1, issue: 'OPS-1', url: 'https://acme.atlassian.net/browse/OPS-1' },
        }),
      ]),
    );
  });

  test('is not posted without a chosen channel or project, nor to a calendar', async () => {
    stubOutsideServices();
    const call = await talked({ tools: { chatapp: {}, tracker: { issue_type: 'Bug' }, calendar: {} } });
    await settled(call);
    expect(await readPostedMessages(call.organizationId)).toEqual([]);
    expect(await listIssues(call.organizationId)).toEqual([]);
    expect(await eventsOf(call)).toEqual([]);
  });

  test('of an unqualified call is left out if only qualified calls are wanted', async () => {
    stubOutsideServices();
    const tools = { chatapp: { channel, action: 'qualified_calls' }, tracker: { project: 'OPS' } };
    const call = await talked({ tools, says: 'No, I am not interested' });
    await settled(call);
    expect((await waitForCompletedRun(call.runId))['disposition']).toBe('not_interested');
    expect(await readPostedMessages(call.organizationId)).toEqual([]);
    expect(await listIssues(call.organizationId)).toHaveLength(1);
    const other = await talked({ tools: { chatapp: { channel, action: 'qualified_calls' } } });
    await settled(other);
    expect(await readPostedMessages(other.organizationId)).toHaveLength(1);
  });

  test('of a call with a machine is posted if all calls are wanted', async () => {
    stubOutsideServices();
    const call = await talked({ tools: { chatapp: { channel }, tracker: { project: 'OPS', action: 'qualified_calls' } } });
    await settled(call, { outcome: 'voicemail' });
    expect((await readPostedMessages(call.organizationId)).map(({ text }) => text.split('\n')[0])).toEqual([
      `*Call with ${call.phone}: voicemail*`,
    ]);
    expect(await listIssues(call.organizationId)).toEqual([]);
  });

  test('contains nothing of a deleted contact', async () => {
    stubOutsideServices();
    const call = await talked({ tools: { chatapp: { channel } }, contact: { first_name: 'Ada' } });
    await call.client.delete(`/contacts/${call.person.id}`);
    await settled(call);
    expect(await readPostedMessages(call.organizationId)).toEqual([]);
    expect(await eventsOf(call)).toMatchObject([{ type: 'call_summary_dropped', payload: { problem: 'the contact was deleted' } }]);
  });
});

describe('a tool that refuses the summary', () => {
  test('permanently delays no other work, and the log and the integration show it until a summary is accepted', async () => {
    stubOutsideServices();
    const call = await talked({ tools: { chatapp: { channel: 'C9999999999' } } });
    const { id } = call.integrations.get('chatapp');
    await settled(call);
    expect(await eventsOf(call)).toMatchObject([
      { type: 'call_summary_failed', payload: { integration_id: id, try: 1, failure: 'rejected', will_be_repeated: false } },
    ]);
    expect((await integrationOf(call.client, id)).last_error).toMatch(
      new RegExp(`^Call ${call.runId} was not summed up: .*no such channel`),
    );
    await call.client.put(`/integration/${id}`, { channel });
    const next = await answeredRun({}, { id: call.organizationId, client: call.client });
    await next.stub.callEnded(next.organizationId, next.runId, callEnd());
    await waitUntilDestroyed(next.stub);
    expect(await readPostedMessages(call.organizationId)).toHaveLength(1);
    expect((await integrationOf(call.client, id)).last_error).toBeNull();
  });

  test('is asked again after a temporary failure, at most six times, and no sooner than it requests', async () => {
    stubOutsideServices();
    const call = await talked({ tools: { chatapp: { channel } } });
    await planFault({
      provider: 'slack',
      match: { path: '/api/chat.postMessage' },
      times: 6,
      status: 429,
      headers: { 'retry-after': '700' },
    });
    await call.stub.callEnded(call.organizationId, call.runId, callEnd());
    await waitForCompletedRun(call.runId);
    for (let number = 1; number < 6; number++) {
      await vi.waitFor(
        async () => {
          const [timer] = await sql(call.stub, "SELECT due FROM timer WHERE subject LIKE 'summary:%'");
          expect(timer?.['due']).toBeGreaterThan(Date.now() + 650_000);
        },
        { timeout: 10_000, interval: 20 },
      );
      await sql(call.stub, "UPDATE timer SET due = 1 WHERE subject LIKE 'summary:%'");
      await call.stub.wakeStalled();
    }
    await waitUntilDestroyed(call.stub);
    expect((await eventsOf(call)).map(({ payload }) => [payload.try, payload.failure, payload.will_be_repeated])).toEqual(
      [1, 2, 3, 4, 5, 6].map((number) => [number, 'rate_limited', number < 6]),
    );
    expect(await readPostedMessages(call.organizationId)).toEqual([]);
  });

  test('because its grant has ended becomes inactive, and does not hold up another tool', async () => {
    stubOutsideServices();
    const call = await talked({ tools: defaults });
    const { id, integration_id } = call.integrations.get('chatapp');
    await setAccountStatus(integration_id, 'REVOKED');
    await settled(call);
    expect(await listIssues(call.organizationId)).toHaveLength(1);
    expect(await integrationOf(call.client, id)).toMatchObject({ is_active: false, last_error: expect.any(String) });
    expect(await eventsOf(call)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          payload: expect.objectContaining({ integration_id: id, failure: 'not_connected', will_be_repeated: false }),
        }),
      ]),
    );
  });

  test('and was disconnected in the meantime gets no summary', async () => {
    stubOutsideServices();
    const call = await talked({ tools: { chatapp: { channel } } });
    const { id } = call.integrations.get('chatapp');
    await planFault({ provider: 'slack', match: { path: '/api/chat.postMessage' }, status: 429, headers: { 'retry-after': '60' } });
    await call.stub.callEnded(call.organizationId, call.runId, callEnd());
    await vi.waitFor(async () => expect(await sql(call.stub, "SELECT 1 FROM tries WHERE subject LIKE '% failed'")).toHaveLength(1), {
      timeout: 10_000,
    });
    await call.client.post(`/integration/${id}/disconnect`);
    await sql(call.stub, "UPDATE timer SET due = 1 WHERE subject LIKE 'summary:%'");
    await call.stub.wakeStalled();
    await waitUntilDestroyed(call.stub);
    expect((await eventsOf(call)).at(-1)).toMatchObject({
      type: 'call_summary_dropped',
      payload: { problem: 'the integration was disconnected' },
    });
    expect(await readPostedMessages(call.organizationId)).toEqual([]);
  });

  test('whose answer is lost gets no second summary', async () => {
    const accounts = new Set<string>();
    stubOutsideServices({
      other: async (request) => {
        if (request.url !== `${broker}/tools/execute/proxy`) return undefined;
        const { connected_account_id: account, method } = (await request.clone().json()) as Record<string, string>;
        const answer = await realFetch(request);
        if (method === 'GET' || !accounts.delete(account!)) return answer;
        await answer.text();
        throw new TypeError('the connection was lost');
      },
    });
    const call = await talked({ tools: defaults });
    for (const { integration_id } of call.integrations.values()) accounts.add(integration_id);
    await call.stub.callEnded(call.organizationId, call.runId, callEnd());
    await waitForCompletedRun(call.runId);
    await vi.waitFor(
      async () =>
        expect(await sql(call.stub, "SELECT 1 FROM timer WHERE subject LIKE 'summary:%' AND due > ?", Date.now())).toHaveLength(1),
      {
        timeout: 10_000,
      },
    );
    await sql(call.stub, "UPDATE timer SET due = 1 WHERE subject LIKE 'summary:%'");
    await call.stub.wakeStalled();
    await waitUntilDestroyed(call.stub);
    expect(await readPostedMessages(call.organizationId)).toHaveLength(1);
    expect(await listIssues(call.organizationId)).toHaveLength(1);
    const failed = (await eventsOf(call))
      .filter(({ type }) => type === 'call_summary_failed')
      .map(({ payload }) => payload.will_be_repeated);
    expect(failed.toSorted()).toEqual([false, true]);
  });
});

for (const moment of ['before', 'after'] as const)
  test(
    `a call that dies ${moment} any of its calls posts its summaries at most once, and is finalized`,
    { tags: 'soak', timeout: 90_000 },
    async () => {
      const calls = 22;
      const watches = new Map<string, CrashWatch>();
      stubOutsideServices({
        other: async (request) => {
          if (request.url !== `${broker}/tools/execute/proxy`) return undefined;
          const { connected_account_id: account } = (await request.clone().json()) as Record<string, string>;
          const ask = () => realFetch(request);
          return watches.get(account!)?.watched(ask) ?? ask();
        },
      });
      vi.spyOn(console, 'log').mockReturnValue();
      const settleOne = async (n: number): Promise<boolean> => {
        const call = await talked({ tools: defaults });
        const { organizationId, runId, stub } = call;
        const watch = await crashCallObjectAt(stub, n, moment);
        for (const { integration_id } of call.integrations.values()) watches.set(integration_id, watch);
        await stub.callEnded(organizationId, runId, callEnd()).catch(() => undefined);
        if (watch.died) await callStub(organizationId, runId).callEnded(organizationId, runId, callEnd());
        await vi.waitFor(
          async () => {
            const alive = callStub(organizationId, runId);
            await runInDurableObject(alive, (_object, { storage }) => {
              const isThere = storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'timer'").toArray().length > 0;
              if (isThere) storage.sql.exec("UPDATE timer SET due = 1 WHERE subject LIKE 'summary%'");
            }).catch(() => undefined);
            await alive.wakeStalled().catch(() => undefined);
            expect(await alive.snapshot()).toBeNull();
          },
          { timeout: 25_000, interval: 100 },
        );
        const posted = await readPostedMessages(organizationId);
        const events = await eventsOf(call);
        const isUnknown = events.some(({ payload }) => payload.failure === 'unknown');
        expect(posted.length, `call ${n}: ${JSON.stringify(events)}`).toBeGreaterThanOrEqual(isUnknown ? 0 : 1);
        expect(posted.length, `call ${n}`).toBeLessThanOrEqual(1);
        expect(await listIssues(organizationId), `call ${n}`).toHaveLength(1);
        return watch.died;
      };
      const deaths = await Promise.all(Array.from({ length: calls }, (_, index) => settleOne(index + 1)));
      expect(deaths.filter(Boolean).length).toBeGreaterThanOrEqual(12);
    },
  );
