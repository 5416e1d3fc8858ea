import { createHmac } from 'node:crypto';
import { env, exports } from 'cloudflare:workers';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import type { CallStatus } from '../../src/providers/telephony/call-status.ts';
import { statusEvent } from '../../src/providers/telephony/carrier-events.ts';
import { carrierAdapter, findCarrierAdapter, registerCarrier, type CarrierKey } from '../../src/providers/telephony/registry.ts';
import type { CallToPlace, CarrierAdapter, Telephony } from '../../src/providers/telephony/telephony.ts';
import { createConfig } from '../../src/telephony-configs/change-config.ts';
import { loadCarrier } from '../../src/telephony-configs/load-carrier.ts';
import { credentialsInput, type NewTelephonyConfig } from '../../src/telephony-configs/schemas.ts';
import { toTelephonyConfigRecord } from '../../src/telephony-configs/config-record.ts';
import { callingOrganization } from '../support/carrier.ts';
import { newPhone } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const sign = (token: string, text: string) => createHmac('sha256', token).update(text).digest('hex');

/**
 * A carrier in one value, as a folder of `providers/telephony` exports it. Keeps the calls that it was asked to place, with their base
 * addresses.
 */
function toyCarrier() {
  const placed: (CallToPlace & { callId: string })[] = [];
  const baseUrls: string[] = [];
  const adapter: CarrierAdapter<'token' | 'region'> = {
    name: 'Toy',
    credentials: {
      token: { isSecret: true, description: 'The token of the Toy account.', findProblem: () => null },
      region: {
        isSecret: false,
        description: 'The region of the Toy account.',
        findProblem: (value) => (['eu', 'us'].includes(value) ? null : 'Is no region of Toy'),
      },
    },
    baseUrl: (_settings, { region }) => `https://${region}.toy.example.com`,
    create: ({ token }, { baseUrl }): Telephony => ({
      signsUrl: true,
      documents: {
        contentType: 'text/plain',
        connect: ({ url }) => `connect ${url}`,
        hangUp: () => 'hang up',
        dialHuman: ({ to }) => `dial ${to}`,
        announce: (text) => `say ${text}`,
      },
      isSigned: ({ url, headers, body }) => headers.get('x-toy-signature') === sign(token, url + body),
      readCallback(body, at) {
        const { call, status } = JSON.parse(body) as { call: string; status: CallStatus };
        return statusEvent({ callId: call, status, at });
      },
      async place(call) {
        const callId = `toy-${placed.length + 1}`;
        placed.push({ ...call, callId });
        baseUrls.push(baseUrl);
        return { placed: { callId, status: 'queued' } };
      },
      lookUp: async () => ({ missing: true }),
      list: async () => ({ calls: [], isComplete: true }),
      hangUp: async () => ({ done: true }),
      listCallErrors: async () => [],
      fetchRecording: async () => ({ missing: true }),
    }),
    speech: { hasHints: false },
    holdsLastToken: false,
    errorHints: { accountRefused: 'the Toy account may not connect calls', unexplainedEnd: '' },
  };
  return { adapter, placed, baseUrls };
}

const toyKey = 'toy' as CarrierKey;

/** A request for a Toy configuration. Cast, since its type does not know a carrier that a test registers. */
const toyConfig = (more: object = {}) =>
  ({
    name: 'Toy line',
    provider: toyKey,
    toy: { token: 'toy-token-canary', region: 'eu' },
    from_numbers: [newPhone()],
    is_default: true,
    calls_per_second: 1000,
    ...more,
  }) as unknown as NewTelephonyConfig;

async function withToy() {
  const toy = toyCarrier();
  onTestFinished(registerCarrier(toyKey, toy.adapter));
  const organization = await callingOrganization();
  const context = (await backgroundContext(env, organization.id, () => {}))!;
  return { ...toy, ...organization, context };
}

describe('a carrier that is one registered adapter', () => {
  test('places a call, and its callbacks move the run to its end', async () => {
    const { client, agentId, context, placed, baseUrls } = await withToy();
    await createConfig(context, toyConfig(), 'https://service.test');
    const phone = newPhone();
    const started = await client.post(`/workflow/${agentId}/runs`, { mode: 'telephony', phone });
    expect(started).toMatchObject({ status: 200, body: { mode: 'toy', gathered_context: { call_status: expect.any(String) } } });
    await vi.waitFor(() => expect(placed).toHaveLength(1), { timeout: 10_000 });
    expect(placed).toMatchObject([{ to: phone }]);
    expect(baseUrls).toEqual(['https://eu.toy.example.com']);

    const [{ urls, callId }] = placed as [(typeof placed)[0]];
    const tell = (status: CallStatus, token = 'toy-token-canary') => {
      const body = JSON.stringify({ call: callId, status });
      const headers = { 'x-toy-signature': sign(token, urls.status + body) };
      return exports.default.fetch(new Request(urls.status, { method: 'POST', headers, body }));
    };
    expect((await tell('busy', 'another token')).status).toBe(401);
    expect((await tell('ringing')).status).toBe(200);
    expect((await tell('busy')).status).toBe(200);
    const path = `/workflow/${agentId}/runs/${started.body.id}`;
    await vi.waitFor(async () => expect((await client.get(path)).body).toMatchObject({ is_completed: true }), { timeout: 10_000 });
    expect((await client.get(path)).body).toMatchObject({ mode: 'toy', phone, gathered_context: { call_status: 'busy' } });
  }, 30_000);

  test('has an answered call fetch its document', async () => {
    const { client, agentId, context, placed } = await withToy();
    await createConfig(context, toyConfig(), 'https://service.test');
    await client.post(`/workflow/${agentId}/runs`, { mode: 'telephony', phone: newPhone() });
    await vi.waitFor(() => expect(placed).toHaveLength(1), { timeout: 10_000 });
    const [{ urls, callId }] = placed as [(typeof placed)[0]];
    const body = JSON.stringify({ call: callId, status: 'answered' });
    const headers = { 'x-toy-signature': sign('toy-token-canary', urls.answer + body) };
    const answer = await exports.default.fetch(new Request(urls.answer, { method: 'POST', headers, body }));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain']);
    expect(await answer.text()).toMatch(/^connect wss:\/\/.*\/relay\//);
  }, 30_000);

  test('has its credentials checked, sealed, masked and opened by their description', async () => {
    const { context } = await withToy();
    const refused = createConfig(context, toyConfig({ toy: { token: 'toy-token-canary', region: 'moon' } }), 'https://service.test');
    await expect(refused).rejects.toMatchObject({ issues: [{ loc: ['body', 'toy', 'region'], msg: 'Is no region of Toy' }] });
    const row = await createConfig(context, toyConfig(), 'https://service.test');
    expect(JSON.stringify(row)).not.toContain('canary');
    expect(await loadCarrier(context, row.id)).toMatchObject({ provider: 'toy', telephony: { signsUrl: true } });
    expect(JSON.stringify(await toTelephonyConfigRecord(context, row, 'https://service.test'))).not.toContain('canary');
  });

  test('has its block in requests and in their description', () => {
    const block = credentialsInput(toyCarrier().adapter);
    expect(block.parse({ token: 'a', region: 'eu' })).toEqual({ token: 'a', region: 'eu' });
    expect(block.safeParse({ tokens: 'a' }).success).toBe(false);
    expect(JSON.stringify(z.toJSONSchema(block))).toMatch(/Credentials of Toy.*The region of the Toy account/s);
  });

  test('is gone once the registration ends', async () => {
    registerCarrier(toyKey, toyCarrier().adapter)();
    expect(findCarrierAdapter(toyKey)).toBeUndefined();
    expect(() => carrierAdapter(toyKey)).toThrow('there is no carrier "toy"');
  });
});
