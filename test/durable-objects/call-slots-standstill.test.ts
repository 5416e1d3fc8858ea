import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { explainStandstill } from '../../durable-objects/call-slots/standstill.ts';
import { newAttempt, reportLevels, type StoredAttempt } from '../../durable-objects/call-slots/stored-attempt.ts';
import { changeAttempt } from '../support/call-slots.ts';
import { callingOrganization } from '../support/carrier.ts';
import { newPhone } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const minute = 60_000;
const now = 1_000 * minute;

const attempt = (change: Partial<StoredAttempt>): StoredAttempt => ({
  ...newAttempt(
    { key: 'campaign:1:1:1', phone: '+12125550100', agentId: 1, contactId: null, name: 'x', initialContext: '{}', notAfter: null },
    { owner: 'campaign:1', lane: 'campaign:1', epoch: 0, notBefore: 0 },
  ),
  seq: 1,
  ...change,
});

test('a call stands still when its carrier is silent, or the work after it is not done, for ten minutes', () => {
  const submitted = (at: number, more: Partial<StoredAttempt> = {}) => attempt({ state: 'submitting', submittedAt: at, ...more });
  expect(explainStandstill(submitted(now - 9 * minute), now)).toBeNull();
  expect(explainStandstill(submitted(now - 11 * minute), now)).toContain('nobody knows yet whether the call was placed');
  const placed = submitted(now - 11 * minute, { state: 'placed' });
  expect(explainStandstill(placed, now)).toBeNull();
  expect(explainStandstill({ ...placed, failedLookUps: 2 }, now)).toContain('asked 2 times');
  const ended = attempt({ state: 'ended', endedAt: now - 11 * minute, followUp: 'watch' });
  expect(explainStandstill(ended, now)).toContain('the work after it is not done');
  expect(explainStandstill({ ...ended, endedAt: now - minute }, now)).toBeNull();
  expect(explainStandstill({ ...ended, followUp: 'none', reportLevel: reportLevels.over }, now)).toContain('cannot be told');
  expect(explainStandstill({ ...ended, followUp: 'none' }, now)).toBeNull();
  expect(explainStandstill(attempt({ state: 'queued' }), now)).toBeNull();
});

test('a silent call is listed without its number, and a retry has the carrier asked at once', async () => {
  const { client, id, agentId } = await callingOrganization();
  const phone = newPhone();
  const slots = env.CALL_SLOTS.getByName(String(id));
  const call = { key: 'campaign:1:1:1', phone, agentId, contactId: null, name: 'x', initialContext: '{}', notAfter: null };
  await slots.request(id, { owner: { kind: 'campaign', id: 1 }, epoch: 1, maxConcurrency: null, calls: [call] } as never);
  await changeAttempt(slots, call.key, {
    state: 'placed',
    submittedAt: Date.now() - 20 * minute,
    failedLookUps: 1,
    checkAt: Date.now() + 20 * minute,
    configId: null,
    callId: 'CA0',
  });
  const { body } = await client.get('/operations/stuck?kind=call');
  expect(body.stuck).toMatchObject([
    { id: `call:${call.key}`, state: 'silent', why: expect.stringContaining('asked once'), next_try_at: expect.any(String) },
  ]);
  expect(JSON.stringify(body)).not.toContain(phone.slice(1));
  const before = Date.parse(body.stuck[0].next_try_at);
  expect((await client.post(body.stuck[0].retry)).body).toMatchObject({ kind: 'call' });
  await vi.waitFor(async () => {
    const { body: after } = await client.get('/operations/stuck?kind=call');
    expect(Date.parse(after.stuck[0]?.next_try_at ?? 0)).toBeLessThan(before);
  });
  expect((await client.post('/operations/stuck/call:unknown/retry')).status).toBe(409);
});
