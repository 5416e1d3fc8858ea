import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createHmac } from 'node:crypto';
import { serviceWith, signUp } from '../http/service.ts';
import { createActiveWorkflow } from '../support/journeys.ts';
import { Client, newOrganization } from '../support/organization.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => vi.useRealTimers());

const times = async <Answer>(count: number, send: (index: number) => Promise<Answer>): Promise<Answer[]> => {
  const answers: Answer[] = [];
  for (let index = 0; index < count; index++) answers.push(await send(index));
  return answers;
};

test('ten keys have one allowance together, and another organization its own', async () => {
  const send = serviceWith({ RATE_LIMITER: undefined });
  const { client, key } = await newOrganization({ plan: { requests_per_10_seconds: 12 } });
  const minted = await times(9, async (index) => (await client.post('/user/api-keys', { name: `Key ${index}` })).body.api_key as string);
  vi.setSystemTime(Date.now() + 20_000);
  const clients = [key, ...minted].map((one) => new Client(one, send));
  const answers = await times(20, (index) => clients[index % clients.length]!.get('/no-such-path'));
  expect(answers.map(({ status }) => status)).toEqual([...Array(12).fill(404), ...Array(8).fill(429)]);
  expect(answers.at(-1)!.body.detail).toContain('requests_per_10_seconds');
  expect(answers.at(-1)!.headers.get('retry-after')).toBe('10');
  const { key: other } = await newOrganization({ plan: { requests_per_10_seconds: 12 } });
  expect((await new Client(other, send).get('/no-such-path')).status).toBe(404);
});

test('the allowance of all keys grows with that of one', async () => {
  const { client } = await newOrganization();
  const { key } = await newOrganization();
  const send = serviceWith({ RATE_LIMIT_REQUESTS: '50' });
  expect((await client.get('/organizations/current')).body.plan.requests_per_10_seconds).toBe(3_000_000);
  expect((await new Client(key, send).get('/organizations/current')).body.plan.requests_per_10_seconds).toBe(150);
});

/** A webhook trigger; `send` delivers to its address. */
async function webhook(auth: object, plan: Record<string, number> = {}, variables?: Record<string, string>) {
  const { client } = await newOrganization({ plan });
  const workflow = await createActiveWorkflow(client, { trigger: { type: 'webhook', config: { auth } } });
  const { uuid } = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers[0];
  const path = `/automation-workflows/webhook/${uuid}`;
  const send = (address: string, body: string, headers: Record<string, string> = {}) =>
    new Client(undefined, variables && serviceWith(variables)).post(path, body, { 'CF-Connecting-IP': address, ...headers });
  return { send };
}

let host = 0;
const newAddress = () => `203.0.${Math.floor(++host / 250)}.${host % 250}`;

test('a trigger without auth has a limit for each address and a limit for all', async () => {
  const { send } = await webhook({ type: 'none' }, { unsigned_webhooks_per_10_seconds: 6 });
  const [first, second, third] = [newAddress(), newAddress(), newAddress()];
  const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status);
  expect(statuses(await times(4, () => send(first, '{}')))).toEqual([202, 202, 202, 429]);
  expect(statuses(await times(4, () => send(second, '{}')))).toEqual([202, 202, 202, 429]);
  const refused = await send(third, '{}');
  expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringContaining('unsigned_webhooks_per_10_seconds') } });
  expect(refused.headers.get('retry-after')).toBeTruthy();
  const { send: toAnother } = await webhook({ type: 'none' }, { unsigned_webhooks_per_10_seconds: 6 });
  expect((await toAnother(first, '{}')).status).toBe(202);
});

test('wrongly signed webhooks get 401, then 429, and well signed ones are still accepted', async () => {
  const { send } = await webhook({ type: 'hmac_sha256', header: 'X-Sig', secret: 'right' }, { unsigned_webhooks_per_10_seconds: 3 });
  const signed = { 'X-Sig': createHmac('sha256', 'right').update('{"a":1}').digest('hex') };
  const forged = await times(5, () => send(newAddress(), '{"a":1}', { 'X-Sig': '00' }));
  expect(forged.map(({ status }) => status)).toEqual([401, 401, 401, 429, 429]);
  const good = await times(8, () => send('198.51.100.7', '{"a":1}', signed));
  expect(new Set(good.map(({ status }) => status))).toEqual(new Set([202]));
});

test('an address whose deliveries are refused too often is answered without a look at the database', async () => {
  const reads = vi.spyOn(env.DB, 'prepare');
  const address = newAddress();
  const guess = () =>
    new Client(undefined, serviceWith({ PLAN_UNSIGNED_WEBHOOKS: '3', DB: env.DB })).post(
      `/automation-workflows/webhook/${crypto.randomUUID()}`,
      '{}',
      { 'CF-Connecting-IP': address },
    );
  expect((await times(4, guess)).map(({ status }) => status)).toEqual([404, 404, 404, 429]);
  reads.mockClear();
  expect((await guess()).status).toBe(429);
  expect(reads).not.toHaveBeenCalled();
  reads.mockRestore();
});

test("refused webhooks of one organization do not block another organization's webhooks from the same address", async () => {
  const few = { PLAN_UNSIGNED_WEBHOOKS: '3' };
  const { send } = await webhook({ type: 'none' }, {}, few);
  const { send: toAnother } = await webhook({ type: 'hmac_sha256', header: 'X-Sig', secret: 'right' }, {}, few);
  const address = newAddress();
  expect((await send(address, '{}')).status).toBe(202);
  const forged = await times(4, () => toAnother(address, '{}', { 'X-Sig': '00' }));
  expect(forged.at(-1)!.status).toBe(429);
  expect((await send(address, '{}')).status).toBe(202);
});

test('sign-ups are bounded by network address, with the next step', async () => {
  const send = serviceWith({ SIGNUPS_PER_HOUR: '2' });
  const from = (address: string) =>
    new Client(undefined, send).post(
      '/auth/signup',
      { email: `${crypto.randomUUID()}@example.com`, password: 'correct horse battery' },
      { 'CF-Connecting-IP': address },
    );
  const address = newAddress();
  expect((await times(2, () => from(address))).map(({ status }) => status)).toEqual([200, 200]);
  const refused = await from(address);
  expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringContaining('SIGNUPS_PER_HOUR') } });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000);
  expect((await from(newAddress())).status).toBe(200);
  vi.setSystemTime(Date.now() + 3_600_001);
  expect((await from(address)).status).toBe(200);
});

test('a user can create a limited number of organizations', async () => {
  const { body } = await signUp({ organization_name: 'First' });
  const client = new Client(undefined, serviceWith({ ORGANIZATIONS_PER_USER: '2' }));
  const create = () => client.post('/auth/organizations', { name: 'Another' }, { Authorization: `Bearer ${body.token}` });
  expect((await create()).status).toBe(200);
  expect(await create()).toMatchObject({ status: 409, body: { detail: expect.stringContaining('ORGANIZATIONS_PER_USER') } });
});
