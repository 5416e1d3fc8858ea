import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { newOrganization } from '../../support/organization.ts';
import { anonymous, asBearer, asBrowser, newMember, signUp } from '../../http/service.ts';

afterEach(() => vi.useRealTimers());

let networks = 0;
const make = async (token: string) =>
  (await asBearer(token).post('/auth/sign-in-links')).body as { url: string; token: string; expires_at: string };
/** Each from a network of its own: log-ins of one are limited. */
const use = (token: unknown, address = `203.0.113.${++networks}`) =>
  anonymous.post('/auth/sign-in-links/use', { token }, { 'CF-Connecting-IP': address });

describe('a sign-in link', () => {
  test('logs in the same person in another browser, with a session of its own in the organization of the first', async () => {
    const { token, userId, organizationId } = await newMember();
    const link = await make(token);
    expect(link.url).toBe(`https://service.test/#sign-in=${link.token}`);
    expect(Date.parse(link.expires_at) - Date.now()).toBeGreaterThan(59 * 60_000);
    const answer = await use(link.token);
    expect(answer).toMatchObject({ status: 200, body: { user: { id: userId }, organization: { id: organizationId } } });
    expect(answer.headers.getSetCookie()[0]).toMatch(/^session=vas_/);
    expect(answer.body.token).not.toBe(token);
    expect((await asBearer(answer.body.token).get('/contacts')).status).toBe(200);
    await asBearer(answer.body.token).post('/auth/logout');
    expect((await asBearer(token).get('/contacts')).status).toBe(200);
  });

  test('works once, also when two browsers open it at the same moment', async () => {
    const { token } = await newMember();
    const { token: link } = await make(token);
    const answers = await Promise.all([use(link), use(link), use(link)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
    expect((await use(link)).body.detail).toMatch(/used or older than an hour/);
  });

  test('is over after an hour', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { body } = await signUp({ organization_name: 'Ours' });
    const [early, late] = [await make(body.token), await make(body.token)];
    vi.setSystemTime(Date.now() + 3_600_000 - 1000);
    expect((await use(early.token)).status).toBe(200);
    vi.setSystemTime(Date.now() + 1000);
    expect((await use(late.token)).status).toBe(401);
  });

  test('ends with the session that made it', async () => {
    const { token } = await newMember();
    const link = await make(token);
    await asBearer(token).delete('/auth/sessions');
    expect((await use(link.token)).status).toBe(401);
  });

  test('of somebody who left the organization opens nothing of it', async () => {
    const { token, userId, organizationId } = await newMember();
    const link = await make(token);
    await env.DB.prepare('DELETE FROM membership WHERE user_id = ? AND organization_id = ?').bind(userId, organizationId).run();
    const answer = await use(link.token);
    expect(answer).toMatchObject({ status: 200, body: { organization: null } });
    expect((await asBearer(answer.body.token).get('/contacts')).status).toBe(400);
  });

  test('of somebody without an organization logs in as well', async () => {
    const { body } = await signUp({});
    expect((await use((await make(body.token)).token)).body).toMatchObject({ organization: null });
  });
});

describe('who may not have one', () => {
  test('an API key gets none: it would become a person', async () => {
    const { client } = await newOrganization();
    expect(await client.post('/auth/sign-in-links')).toMatchObject({ status: 400, body: { detail: expect.stringContaining('session') } });
  });

  test('a page gets none with its cookie, so that nothing that runs in it carries a session away', async () => {
    const { token } = await newMember();
    expect(await asBrowser(token).post('/auth/sign-in-links')).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('Bearer') },
    });
  });

  test('nobody gets one without credentials', async () => {
    expect((await anonymous.post('/auth/sign-in-links')).status).toBe(401);
  });
});

test('a link that is changed, made up or nothing is refused', async () => {
  const { token } = await newMember();
  const { token: link } = await make(token);
  const parts = link.split('.');
  const longer = [parts[0], String(Number(parts[1]) + 1), parts[2], parts[3]].join('.');
  const other = [parts[0], parts[1], '0'.repeat(64), parts[3]].join('.');
  for (const wrong of [longer, other, link.slice(0, -1), `${link}0`, 'val_', 'x', token, parts.slice(0, 3).join('.')])
    expect([wrong, (await use(wrong)).status]).toEqual([wrong, 401]);
  for (const wrong of ['', null, 7, {}, 'x'.repeat(301)]) expect([wrong, (await use(wrong)).status]).toEqual([wrong, 422]);
  expect((await use(link)).status).toBe(200);
});

test('links are not tried out: a network waits after ten', async () => {
  const address = '198.51.100.77';
  const answers = await Promise.all(Array.from({ length: 12 }, () => use('val_x', address)));
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(2);
});
