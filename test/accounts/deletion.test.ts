import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { deletionSteps } from '../../src/cron/delete-organization/steps.ts';
import { fromStoredStep, processDeletion } from '../../src/cron/delete-organization/process-deletion.ts';
import { runInvocation } from '../../src/database/query-budget.ts';
import { organizationFolders, organizationTables } from '../../src/database/organization-tables.ts';
import { organizationById } from '../../src/accounts/organizations/background-context.ts';
import { anonymous, asBearer, newSession, password, signUp } from '../http/service.ts';
import { holdsSlot } from '../../src/calls/attempt/attempt.ts';
import { knownAttempts } from '../support/call-slots.ts';
import { dropQueueMessages, tickAt } from '../support/background.ts';
import { callingOrganization, carrierLedger } from '../support/carrier.ts';
import { fillOrganization } from '../support/fill-organization.ts';
import { insertRow } from '../support/insert-row.ts';
import { createActiveWorkflow, chain, runStub } from '../support/journeys.ts';
import { Client, newOrganization, newPhone } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const name = 'Test organization';
const remove = (client: Client, confirm = name) => client.delete(`/organizations/current?confirm_name=${encodeURIComponent(confirm)}`);
const workOff = (id: number, bindings = env) => runInvocation(() => processDeletion(bindings, id, () => undefined));
const progress = async (id: string) => (await anonymous.get(`/deletions/${id}`)).body;

/** Works a deletion off as if it had been asked for long ago. */
async function finish(id: number): Promise<void> {
  await env.DB.prepare('UPDATE deletion SET created_at = created_at - 180000 WHERE subject_id = ?').bind(id).run();
  await vi.waitFor(
    async () => {
      await workOff(id);
      const row = await env.DB.prepare('SELECT finished_at FROM deletion WHERE subject_id = ?')
        .bind(id)
        .first<{ finished_at: number | null }>();
      expect(row!.finished_at).not.toBeNull();
    },
    { timeout: 30_000, interval: 10 },
  );
}

/** The tables in which an organization has rows. */
async function tablesWithRows(id: number): Promise<string[]> {
  const found: string[] = [];
  for (const { table, rows } of organizationTables)
    for (const condition of rows)
      if (await env.DB.prepare(`SELECT 1 FROM ${table} WHERE ${condition} LIMIT 1`).bind(id).first()) found.push(table);
  return [...new Set(found)];
}

async function filesOf(id: number): Promise<string[]> {
  const lists = await Promise.all(organizationFolders.map((folder) => env.FILES.list({ prefix: `${folder}${id}/` })));
  return lists.flatMap(({ objects }) => objects.map(({ key }) => key));
}

describe('a deleted organization', () => {
  test('has ended for its keys and sessions at once, says how far it is, and is gone in the end with everything', async () => {
    const { id, userId, client } = await newOrganization();
    const neighbour = await newOrganization();
    await fillOrganization(id, userId);
    await fillOrganization(neighbour.id, neighbour.userId);
    const token = await newSession(userId, id);
    const before = await tablesWithRows(id);
    expect(before).toEqual(
      expect.arrayContaining(organizationTables.map(({ table }) => table).filter((table) => table !== 'organization_usage')),
    );
    const lost = dropQueueMessages();

    const asked = await remove(client);
    expect(asked).toMatchObject({ status: 200, body: { status: 'deleting', finished_at: null } });
    expect((await client.get('/contacts')).status).toBe(401);
    expect((await asBearer(token).get('/auth/me')).status).toBe(401);
    expect(await organizationById(env, id)).toBeNull();
    expect(await progress(asked.body.id)).toMatchObject({ id: asked.body.id, status: 'deleting' });

    // On a machine that has much to do, a message does not come to the end of a round.
    await vi.waitFor(
      async () => {
        await workOff(id);
        expect(await filesOf(id)).toEqual([]);
      },
      { timeout: 30_000, interval: 10 },
    );
    expect(await tablesWithRows(id)).toEqual(['membership', 'organization']);
    expect((await progress(asked.body.id)).status).toBe('deleting');
    // A row that was written by work that did not know of the deletion yet.
    await insertRow('event', { organization_id: id, data: '{}' });
    lost.restore();
    await finish(id);
    expect(await tablesWithRows(id)).toEqual(['organization']);
    expect(await env.DB.prepare('SELECT name FROM organization WHERE id = ?').bind(id).first()).toEqual({ name: '' });
    expect(await progress(asked.body.id)).toMatchObject({ status: 'deleted', finished_at: expect.any(String) });
    expect((await progress(asked.body.id)).removed).toBeGreaterThanOrEqual(before.length - 1 + organizationFolders.length);
    expect((await client.get('/contacts')).status).toBe(401);

    expect(await filesOf(neighbour.id)).toHaveLength(organizationFolders.length);
    expect(await tablesWithRows(neighbour.id)).toEqual(expect.arrayContaining(before.filter((table) => table !== 'session')));
    expect((await neighbour.client.get('/organizations/current')).status).toBe(200);
    await remove(neighbour.client);
    await finish(neighbour.id);
  });

  test('has its runs, campaigns and vectors stopped: nothing is left in their objects', async () => {
    const { id, client } = await newOrganization();
    const workflow = await createActiveWorkflow(client, {
      definition: chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } }),
    });
    const started = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
    expect(started.status, JSON.stringify(started.body)).toBeLessThan(300);
    const runId = started.body.id;
    const stored = () =>
      runInDurableObject(runStub(id, runId), (_instance, state) => [
        ...state.storage.sql.exec("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'"),
      ]);
    await vi.waitFor(async () => expect((await stored()).length).toBeGreaterThan(0));
    await remove(client);
    await finish(id);
    await vi.waitFor(async () => expect(await stored()).toEqual([]), { timeout: 10_000 });
    expect(await runInDurableObject(runStub(id, runId), (_instance, state) => state.storage.getAlarm())).toBeNull();
  });

  test('has its calls in progress ended at the carrier, and those that wait are not made', async () => {
    const { id, client, agentId, account } = await callingOrganization({ concurrentCalls: 1 });
    for (let count = 0; count < 3; count++)
      await client.post(`/workflow/${agentId}/runs`, { mode: 'telephony', phone: newPhone(), initial_context: {} });
    await vi.waitFor(async () => expect((await carrierLedger(account)).calls).toHaveLength(1), { timeout: 10_000, interval: 50 });
    const slots = env.CALL_SLOTS.getByName(String(id));
    const onLine = async () => (await knownAttempts(slots)).filter((attempt) => holdsSlot(attempt) && attempt.callId !== null);
    await vi.waitFor(async () => expect(await onLine()).toHaveLength(1), { timeout: 10_000, interval: 50 });
    expect((await carrierLedger(account)).calls[0]!.status).not.toBe('completed');
    await remove(client);
    await finish(id);
    await vi.waitFor(
      async () => {
        const { calls } = await carrierLedger(account);
        expect(calls).toHaveLength(1);
        expect(['completed', 'cancelled']).toContain(calls[0]!.status);
      },
      { timeout: 10_000, interval: 50 },
    );
  });

  test.each([
    ['no name', '', 'confirm_name'],
    ['another name', '?confirm_name=Acme', 'confirm_name'],
  ])('is not deleted by %s', async (_, query, field) => {
    const { client } = await newOrganization();
    const refused = await client.delete(`/organizations/current${query}`);
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', field], msg: expect.any(String) }] } });
    expect((await client.get('/organizations/current')).status).toBe(200);
  });

  test('is deleted by admins alone', async () => {
    const writer = await newOrganization({ scopes: ['write'] });
    expect((await remove(writer.client)).status).toBe(403);
    expect((await remove(new Client(undefined))).status).toBe(401);
    expect((await writer.client.get('/contacts')).status).toBe(200);
  });

  test('leaves its people their accounts, without it', async () => {
    const { body, email } = await signUp({ organization_name: name });
    await asBearer(body.token).delete(`/organizations/current?confirm_name=${encodeURIComponent(name)}`);
    const again = await anonymous.post('/auth/login', { email, password });
    expect(again).toMatchObject({ status: 200, body: { organization: null } });
    const selected = await asBearer(again.body.token).post('/auth/organization', { organization_id: body.organization.id });
    expect(selected.status).toBe(404);
  });

  test('goes on after a crash at any step, and the tick sends for it again', async () => {
    const { id, userId, client } = await newOrganization();
    await fillOrganization(id, userId);
    const lost = dropQueueMessages();
    await remove(client);
    const broken = vi.spyOn(env.FILES, 'delete').mockRejectedValue(new Error('R2 is away'));
    const untilItFails = async () => {
      for (;;) await workOff(id);
    };
    await expect(untilItFails()).rejects.toThrow('R2 is away');
    const row = await env.DB.prepare('SELECT step FROM deletion WHERE subject_id = ?').bind(id).first<{ step: number }>();
    expect(deletionSteps[fromStoredStep(row!.step)]!.name).toBe('files');
    broken.mockRestore();
    lost.restore();
    const sent = vi.spyOn(env.FANOUT_QUEUE, 'send').mockResolvedValue(undefined as never);
    await tickAt(Date.now() + 60_000);
    expect(sent.mock.calls.map(([message]) => message)).toContainEqual({ v: 1, kind: 'deletion', organization_id: id });
    sent.mockRestore();
    await finish(id);
    expect(await tablesWithRows(id)).toEqual(['organization']);
  });

  test('leaves ids that are never given again, though it had the newest of all', async () => {
    const { id, userId, client } = await newOrganization();
    await fillOrganization(id, userId);
    const newest = async (table: string) => (await env.DB.prepare(`SELECT max(id) AS id FROM ${table}`).first<{ id: number }>())!.id;
    const before = { event: await newest('event'), webhook_delivery: await newest('webhook_delivery'), organization: id };
    await remove(client);
    await finish(id);
    for (const [table, last] of Object.entries(before)) expect(await newest(table)).toBeGreaterThanOrEqual(last);
    const left = await env.DB.prepare('SELECT * FROM event WHERE id = ?').bind(before.event).first();
    expect(left).toMatchObject({ organization_id: 0, data: '{}', phone: null, contact_id: null, handled_at: expect.any(Number) });
    expect((await newOrganization()).id).toBeGreaterThan(id);
  });

  test('begins anew where a new version has other steps', async () => {
    expect(fromStoredStep(0)).toBe(0);
    expect(fromStoredStep(deletionSteps.length * 1000 + 7)).toBe(7);
    expect(fromStoredStep((deletionSteps.length - 1) * 1000 + 7)).toBe(0);
  });

  test('is found by an id that cannot be guessed, and by nothing else', async () => {
    expect((await anonymous.get(`/deletions/${crypto.randomUUID()}`)).status).toBe(404);
    expect((await anonymous.get('/deletions/1')).status).toBe(422);
    const { id, client } = await newOrganization();
    const { body } = await remove(client);
    expect(JSON.stringify(await progress(body.id))).not.toContain(name);
    await finish(id);
  });
});

describe('a person', () => {
  const leave = (token: string, given = password) => asBearer(token).post('/auth/me/delete', { password: given });

  test('deletes the own account by its password: sessions end, keys are revoked, the address is free', async () => {
    const { body, email } = await signUp({ organization_name: 'Theirs' });
    const { body: key } = await asBearer(body.token).post('/user/api-keys', { name: 'admin', scopes: ['admin'] });
    const { userId } = await newOrganization();
    await env.DB.prepare('INSERT INTO membership (user_id, organization_id, created_at) VALUES (?, ?, 1)')
      .bind(userId, body.organization.id)
      .run();
    expect(await leave(body.token)).toMatchObject({ status: 200, body: { status: 'deleted' } });
    expect((await asBearer(body.token).get('/auth/me')).status).toBe(401);
    expect((await new Client(key.api_key).get('/contacts')).status).toBe(401);
    expect((await anonymous.post('/auth/login', { email, password })).status).toBe(401);
    expect((await anonymous.post('/auth/signup', { email, password })).body.user.id).toBeGreaterThan(body.user.id);
    const left = await env.DB.prepare('SELECT email, name, password_hash FROM user WHERE id = ?').bind(body.user.id).first();
    expect(left).toEqual({ email: ` ${body.user.id}`, name: null, password_hash: 'none' });
  });

  test('without an organization goes, too', async () => {
    const { body } = await signUp();
    expect((await leave(body.token)).status).toBe(200);
  });

  test('stays while an organization has no other member, unless that is being deleted', async () => {
    const { body } = await signUp({ organization_name: name });
    expect(await leave(body.token)).toMatchObject({ status: 409, body: { detail: expect.stringContaining(`"${name}"`) } });
    const other = await newSession(body.user.id, null);
    await asBearer(body.token).delete(`/organizations/current?confirm_name=${encodeURIComponent(name)}`);
    expect((await leave(other)).status).toBe(200);
  });

  test('is not deleted by a wrong password, by a key, or without credentials', async () => {
    const { body } = await signUp();
    expect(await leave(body.token, 'not this one')).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'password'] }] } });
    expect((await (await newOrganization()).client.post('/auth/me/delete', { password })).status).toBe(400);
    expect((await anonymous.post('/auth/me/delete', { password })).status).toBe(401);
    expect((await asBearer(body.token).get('/auth/me')).status).toBe(200);
  });
});

describe('a removed member', () => {
  const join = (userId: number, id: number) =>
    env.DB.prepare('INSERT INTO membership (user_id, organization_id, created_at) VALUES (?, ?, 1)').bind(userId, id).run();

  test('has no sessions and no working keys in the organization, and goes when it was their only one', async () => {
    const { id, client } = await newOrganization();
    const { body, email } = await signUp();
    await join(body.user.id, id);
    const token = await newSession(body.user.id, id);
    const { body: key } = await asBearer(token).post('/user/api-keys', { name: 'theirs' });
    expect(await client.delete(`/organizations/members/${body.user.id}`)).toMatchObject({ status: 200, body: { status: 'deleted' } });
    expect((await asBearer(token).get('/auth/me')).status).toBe(401);
    expect((await new Client(key.api_key).get('/contacts')).status).toBe(401);
    expect((await anonymous.post('/auth/login', { email, password })).status).toBe(401);
    expect((await client.get('/organizations/members')).body.total).toBe(1);
  });

  test('keeps the account where there is another organization', async () => {
    const { id, client } = await newOrganization();
    const { body, email } = await signUp({ organization_name: 'Theirs' });
    await join(body.user.id, id);
    expect((await client.delete(`/organizations/members/${body.user.id}`)).status).toBe(200);
    expect((await anonymous.post('/auth/login', { email, password })).body).toMatchObject({ organization: { name: 'Theirs' } });
  });

  test('is not the last one and not of another organization, and only admins remove members', async () => {
    const { id, userId, client } = await newOrganization();
    const foreign = await newOrganization();
    expect((await client.delete(`/organizations/members/${userId}`)).status).toBe(409);
    expect((await client.delete(`/organizations/members/${foreign.userId}`)).status).toBe(404);
    expect((await foreign.client.delete(`/organizations/members/${userId}`)).status).toBe(404);
    const { body } = await client.post('/user/api-keys', { name: 'writer', scopes: ['write'] });
    await join(foreign.userId, id);
    expect((await new Client(body.api_key).delete(`/organizations/members/${foreign.userId}`)).status).toBe(403);
    expect((await client.get('/organizations/members')).body.total).toBe(2);
  });
});
