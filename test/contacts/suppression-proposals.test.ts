import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { proposeSuppression } from '../../src/contacts/suppressions/proposals.ts';
import { Client, newOrganization, newPhone } from '../support/organization.ts';

const path = '/contacts/suppressions';
let lastRun = 0;

/** An organization with a proposal of a call. */
async function proposed(scopes?: ['read' | 'write']) {
  const organization = await newOrganization(scopes && { scopes });
  const context = (await backgroundContext(env, organization.id, () => {}))!;
  const propose = (phone: string, callRunId = ++lastRun) =>
    proposeSuppression(context, { phone, contactId: null, callRunId, reason: 'no_words: the talk ended as "do_not_call"' });
  const phone = newPhone();
  await propose(phone);
  const proposals = async (query = '') => (await organization.client.get(`${path}/proposals${query}`)).body;
  return { ...organization, phone, propose, proposals, id: organization.id, proposal: (await proposals()).proposals[0] };
}

describe('a proposal', () => {
  test('is open until a person decides, and suppresses nothing', async () => {
    const { client, phone, proposal } = await proposed();
    expect(proposal).toEqual({
      id: expect.any(Number),
      phone,
      contact_id: null,
      call_run_id: lastRun,
      reason: 'no_words: the talk ended as "do_not_call"',
      state: 'open',
      created_at: expect.stringMatching(/Z$/),
      decided_at: null,
      decided_by: null,
    });
    expect((await client.get(path)).body.total).toBe(0);
  });

  test('is made once a call, however often the end of the call is worked on', async () => {
    const { propose, proposals, phone, proposal, client } = await proposed();
    await propose(phone, proposal.call_run_id);
    expect((await proposals()).total).toBe(1);
    await client.post(`${path}/proposals/${proposal.id}/dismiss`);
    await propose(phone, proposal.call_run_id);
    expect((await proposals()).total).toBe(0);
    expect((await proposals('?state=dismissed')).total).toBe(1);
  });

  test('is not made for a number that is suppressed for good, and is for one that is suppressed for a time', async () => {
    const { client, propose, proposals, proposal } = await proposed();
    await client.post(`${path}/proposals/${proposal.id}/dismiss`);
    const [forGood, forATime] = [newPhone(), newPhone()];
    await client.post(path, { phone: forGood });
    await client.post(path, { phone: forATime, until: '2099-01-01' });
    await propose(forGood);
    await propose(forATime);
    expect((await proposals()).proposals).toEqual([expect.objectContaining({ phone: forATime })]);
  });

  test('that is confirmed suppresses its number for good, with the user who decided, and decides the others of the number', async () => {
    const { client, phone, propose, proposals, proposal } = await proposed();
    await propose(phone);
    const other = newPhone();
    await propose(other);
    const confirmed = await client.post(`${path}/proposals/${proposal.id}/confirm`);
    expect(confirmed).toMatchObject({
      status: 200,
      body: { phone, source: 'call', evidence: null, call_run_id: proposal.call_run_id, created_by: expect.any(Number), until: null },
    });
    expect((await client.get(path)).body.suppressions).toEqual([confirmed.body]);
    expect((await proposals()).proposals).toEqual([expect.objectContaining({ phone: other })]);
    const decided = (await proposals('?state=confirmed')).proposals;
    expect(decided.map((one: any) => [one.phone, one.decided_by])).toEqual([
      [phone, confirmed.body.created_by],
      [phone, confirmed.body.created_by],
    ]);
  });

  test('keeps the sentence that another call has brought', async () => {
    const { client, phone, proposal } = await proposed();
    await env.DB.prepare(
      `INSERT INTO suppression (organization_id, phone, reason, source, evidence, call_run_id, until, created_at)
       SELECT organization_id, phone, 'asked', 'call', 'Stop calling', 4711, NULL, 0 FROM suppression_proposal WHERE id = ?`,
    )
      .bind(proposal.id)
      .run();
    expect((await client.post(`${path}/proposals/${proposal.id}/confirm`)).body).toMatchObject({
      phone,
      evidence: 'Stop calling',
      call_run_id: 4711,
    });
  });

  test.each([
    ['confirm', 'confirmed'],
    ['dismiss', 'dismissed'],
  ])('is decided once: after %s, a decision is a 409 that says so', async (verb, state) => {
    const { client, proposal } = await proposed();
    expect((await client.post(`${path}/proposals/${proposal.id}/${verb}`)).status).toBe(200);
    const before = (await client.get(path)).body;
    for (const again of ['confirm', 'dismiss'])
      expect(await client.post(`${path}/proposals/${proposal.id}/${again}`)).toMatchObject({
        status: 409,
        body: { detail: expect.stringContaining(`was ${state} at`) },
      });
    expect((await client.get(path)).body).toEqual(before);
  });

  test('is decided once by many at the same time, and the number is suppressed only by a confirmation', async () => {
    const { client, proposal, proposals } = await proposed();
    const answers = await Promise.all(
      ['confirm', 'dismiss', 'confirm', 'dismiss'].map((verb) => client.post(`${path}/proposals/${proposal.id}/${verb}`)),
    );
    const suppressed = (await client.get(path)).body.total;
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    expect((await proposals('?state=confirmed')).total).toBe(suppressed);
  });

  test('that is none is a 404, and a wrong state in the query a 422', async () => {
    const { client } = await proposed();
    for (const verb of ['confirm', 'dismiss']) expect((await client.post(`${path}/proposals/999999999/${verb}`)).status).toBe(404);
    expect(await client.get(`${path}/proposals?state=perhaps`)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', 'state'] }] },
    });
  });

  test('is nothing to another organization, to a key without the scope and to nobody', async () => {
    const { proposal, proposals } = await proposed();
    const { client: other } = await newOrganization();
    expect((await other.get(`${path}/proposals`)).body.total).toBe(0);
    for (const verb of ['confirm', 'dismiss']) {
      expect((await other.post(`${path}/proposals/${proposal.id}/${verb}`)).status).toBe(404);
      const reader = await newOrganization({ scopes: ['read'] });
      expect((await reader.client.post(`${path}/proposals/${proposal.id}/${verb}`)).status).toBe(403);
      expect((await new Client(undefined).post(`${path}/proposals/${proposal.id}/${verb}`)).status).toBe(401);
    }
    expect((await proposals()).total).toBe(1);
  });
});

describe('a suppression that is restored', () => {
  test('allows calls again and keeps who asked and who allowed', async () => {
    const { client, id } = await newOrganization();
    const phone = newPhone();
    const { body: suppression } = await client.post(path, { phone, reason: 'asked by letter' });
    const answer = await client.post(`${path}/${suppression.id}/restore`, { reason: ' Asked for a  call ' });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        ...suppression,
        until: answer.body.restored_at,
        restored_at: expect.stringMatching(/Z$/),
        restored_by: suppression.created_by,
        restore_reason: 'Asked for a call',
      },
    });
    expect((await client.get(path)).body.total).toBe(0);
    expect((await client.get(`${path}?include_expired=true`)).body.suppressions).toEqual([answer.body]);
    expect((await client.post(`${path}/${suppression.id}/restore`, { reason: 'again' })).body).toEqual(answer.body);
    expect(id).toBeGreaterThan(0);
  });

  test('holds again when it is asked for again, as a new one', async () => {
    const { client } = await newOrganization();
    const phone = newPhone();
    const { body: first } = await client.post(path, { phone, reason: 'first' });
    await client.post(`${path}/${first.id}/restore`, { reason: 'a mistake' });
    const { body: second } = await client.post(path, { phone, reason: 'second' });
    expect(second).toMatchObject({
      id: first.id,
      reason: 'second',
      until: null,
      restored_at: null,
      restored_by: null,
      restore_reason: null,
    });
    expect((await client.get(path)).body.total).toBe(1);
  });

  test.each([
    ['no reason', {}],
    ['an empty reason', { reason: ' ' }],
    ['a long reason', { reason: 'x'.repeat(201) }],
  ])('needs a reason: %s is a 422', async (_kind, body) => {
    const { client } = await newOrganization();
    const { body: suppression } = await client.post(path, { phone: newPhone() });
    expect(await client.post(`${path}/${suppression.id}/restore`, body)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'reason'] }] },
    });
    expect((await client.get(path)).body.total).toBe(1);
  });

  test('is one of the own organization', async () => {
    const { client } = await newOrganization();
    const { body: suppression } = await client.post(path, { phone: newPhone() });
    const { client: other } = await newOrganization();
    expect((await other.post(`${path}/${suppression.id}/restore`, { reason: 'x' })).status).toBe(404);
    const { client: reader } = await newOrganization({ scopes: ['read'] });
    expect((await reader.post(`${path}/${suppression.id}/restore`, { reason: 'x' })).status).toBe(403);
    expect((await client.get(path)).body.total).toBe(1);
  });
});
