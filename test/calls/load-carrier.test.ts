import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Context } from '../../src/context.ts';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { Database } from '../../src/database/client.ts';
import { carriers } from '../../src/providers/telephony/registry.ts';
import { loadCarrier, invalidateCarriers } from '../../src/telephony-configs/load-carrier.ts';
import { loadDialingPolicy } from '../../src/telephony-configs/dialing-policy.ts';
import { recordedDatabase, type Recording } from '../support/recorded-database.ts';
import { newOrganization, type Client } from '../support/organization.ts';
import { accountSid, authToken, newAgentId, publicKey, telnyxConfig, telnyxKey, twilioConfig } from '../voice-agents/carrier-accounts.ts';

afterEach(() => vi.restoreAllMocks());

const path = '/organizations/telephony-configs';

/** The context of background work with its D1 calls counted, at a time that the test sets. */
async function contextOf(organizationId: number, settings: Partial<Context['settings']> = {}) {
  const context = (await backgroundContext(env, organizationId, () => {}))!;
  const recording: Recording = { statements: [], calls: 0 };
  const time = { now: Date.now() };
  const counted: Context = {
    ...context,
    settings: { ...context.settings, ...settings },
    clock: () => time.now,
    database: new Database(recordedDatabase(env.DB, recording), true),
  };
  return { context: counted, recording, time };
}

const created = async (client: Client, body: object): Promise<number> => (await client.post(path, body)).body.id;

describe('a carrier', () => {
  test('of Twilio is loaded with opened secrets, ready for use', async () => {
    const { client, id } = await newOrganization();
    const agentId = await newAgentId(id);
    const body = twilioConfig({ calls_per_second: 7, machine_detection: false, inbound_workflow_id: agentId });
    const configId = await created(client, body);
    const { context } = await contextOf(id);
    const create = vi.spyOn(carriers.twilio, 'create');
    const carrier = await loadCarrier(context, configId);
    expect(create.mock.calls).toMatchObject([[{ account_sid: accountSid, auth_token: authToken }, {}]]);
    expect(carrier).toEqual({
      id: configId,
      provider: 'twilio',
      telephony: expect.objectContaining({ signsUrl: true, documents: expect.any(Object) }),
      fromNumbers: body.from_numbers,
      callsPerSecond: 7,
      machineDetection: false,
      inboundAgentId: agentId,
      callbackOrigin: 'https://service.test',
    });
    // The simulated carrier takes the credentials.
    const placed = await carrier!.telephony.list({ to: '+12125550100', from: body.from_numbers[0]!, since: 0, attemptKey: 'none' });
    expect(placed).toEqual({ calls: [], isComplete: true });
  });

  test('of Telnyx is loaded with the public key that checks its webhooks', async () => {
    const { client, id } = await newOrganization();
    const { context } = await contextOf(id);
    const create = vi.spyOn(carriers.telnyx, 'create');
    expect(await loadCarrier(context, await created(client, telnyxConfig()))).toMatchObject({
      provider: 'telnyx',
      telephony: { signsUrl: false, commands: expect.any(Object) },
      inboundAgentId: null,
    });
    const credentials = { api_key: telnyxKey, connection_id: '1494404757140276705', public_key: publicKey };
    expect(create).toHaveBeenCalledExactlyOnceWith(credentials, expect.objectContaining({ baseUrl: expect.any(String) }));
  });

  test('calls back under PUBLIC_URL if it is set', async () => {
    const { client, id } = await newOrganization();
    const { context } = await contextOf(id, { PUBLIC_URL: 'https://calls.example.com/' });
    expect((await loadCarrier(context, await created(client, twilioConfig())))?.callbackOrigin).toBe('https://calls.example.com');
  });

  test('is not found by another organization, nor after its deletion', async () => {
    const { client, id } = await newOrganization();
    const { id: otherId } = await newOrganization();
    const configId = await created(client, twilioConfig());
    const { context } = await contextOf(id);
    expect(await loadCarrier((await contextOf(otherId)).context, configId)).toBeNull();
    expect(await loadCarrier(context, 999_999_999)).toBeNull();
    expect(await loadCarrier(context, configId)).not.toBeNull();
    await client.delete(`${path}/${configId}`);
    expect(await loadCarrier(context, configId)).toBeNull();
  });

  test('is read once a minute', async () => {
    const { client, id } = await newOrganization();
    const configId = await created(client, twilioConfig());
    const { context, recording, time } = await contextOf(id);
    const first = await loadCarrier(context, configId);
    time.now += 59_999;
    expect(await loadCarrier(context, configId)).toBe(first);
    expect(recording.calls).toBe(1);
    time.now += 1;
    await loadCarrier(context, configId);
    expect(recording.calls).toBe(2);
    // A clock that was set back extends no time.
    time.now -= 3_600_000;
    await loadCarrier(context, configId);
    expect(recording.calls).toBe(3);
  });

  test('is read anew after a change in this isolate, also if it was read during the change', async () => {
    const { client, id } = await newOrganization();
    const configId = await created(client, twilioConfig());
    const { context } = await contextOf(id);
    expect((await loadCarrier(context, configId))?.callsPerSecond).toBe(1);
    await client.patch(`${path}/${configId}`, { calls_per_second: 2 });
    expect((await loadCarrier(context, configId))?.callsPerSecond).toBe(2);

    invalidateCarriers(id);
    let isFirst = true;
    const stale = {
      ...context,
      database: new Database(
        {
          ...recordedDatabase(env.DB, { statements: [], calls: 0 }),
          prepare: (sql: string) => lateStatement(env.DB.prepare(sql)),
        } as unknown as D1Database,
        true,
      ),
    };
    // The statement reads 2, and the configuration changes before it returns.
    const lateStatement = (statement: D1PreparedStatement): D1PreparedStatement =>
      ({
        bind: (...values: unknown[]) => lateStatement(statement.bind(...values)),
        raw: async () => {
          const rows = await statement.raw();
          if (isFirst) await client.patch(`${path}/${configId}`, { calls_per_second: 3 });
          isFirst = false;
          return rows;
        },
      }) as unknown as D1PreparedStatement;
    expect((await loadCarrier(stale, configId))?.callsPerSecond).toBe(2);
    expect((await loadCarrier(context, configId))?.callsPerSecond).toBe(3);
  });
});

describe('the dialling policy', () => {
  test('has the plan, the hours between calls and the default configuration', async () => {
    const { client, id } = await newOrganization();
    const { context } = await contextOf(id);
    expect(await loadDialingPolicy(context)).toEqual({ limit: 100, minHoursBetweenCalls: 0, config: null, hasInbound: false });
    const body = twilioConfig({ calls_per_second: 7, machine_detection: false });
    const configId = await created(client, body);
    await client.patch('/organizations/current', { min_hours_between_calls: 1.5 });
    await env.DB.prepare('UPDATE organization SET plan_concurrent_calls = 3 WHERE id = ?').bind(id).run();
    // The context is older than the change, and is not used.
    expect(await loadDialingPolicy(context)).toEqual({
      limit: 3,
      minHoursBetweenCalls: 1.5,
      config: { id: configId, provider: 'twilio', fromNumbers: body.from_numbers, callsPerSecond: 7, machineDetection: false },
      hasInbound: false,
    });
  });

  test('follows the default, and includes inbound calls at any configuration', async () => {
    const { client, id } = await newOrganization();
    const { context } = await contextOf(id);
    const first = await created(client, twilioConfig());
    const second = await created(client, telnyxConfig({ inbound_workflow_id: await newAgentId(id) }));
    expect(await loadDialingPolicy(context)).toMatchObject({ config: { id: first, provider: 'twilio' }, hasInbound: true });
    await client.patch(`${path}/${second}`, { is_default: true });
    expect(await loadDialingPolicy(context)).toMatchObject({ config: { id: second, provider: 'telnyx' }, hasInbound: true });
  });

  test('has nothing of another organization', async () => {
    const { client } = await newOrganization();
    const { id: otherId } = await newOrganization();
    await created(client, twilioConfig());
    expect(await loadDialingPolicy((await contextOf(otherId)).context)).toMatchObject({ config: null, hasInbound: false });
  });

  test('holds no secret', async () => {
    const { client, id } = await newOrganization();
    await created(client, twilioConfig());
    const text = JSON.stringify(await loadDialingPolicy((await contextOf(id)).context));
    for (const secret of [authToken, accountSid, 'sealed:']) expect(text).not.toContain(secret);
  });
});
