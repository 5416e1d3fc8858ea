import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { sendMessage } from '../../src/messaging/messages/send-message.ts';
import { logOf, messagingOrganization } from '../messaging/accounts.ts';
import { deliver, dropQueueMessages } from '../support/background.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { explainQueryPlans, recordedDatabase, type Recording } from '../support/recorded-database.ts';

afterEach(() => vi.restoreAllMocks());

/** Deletes a contact; answers how its cleanup is worked off, with these bindings. */
async function deleteContact(client: Client, organizationId: number, contact: number) {
  const lost = dropQueueMessages();
  await client.delete(`/contacts/${contact}`);
  lost.restore();
  const cleanup = () => env.DB.prepare('SELECT id FROM cleanup WHERE organization_id = ?').bind(organizationId).first<{ id: number }>();
  const { id } = (await cleanup())!;
  return { cleanup, message: { v: 1, kind: 'cleanup', organization_id: organizationId, id } };
}

const newContact = async (client: Client, phone = newPhone()): Promise<{ id: number; phone: string }> =>
  (await client.post('/contacts', { phone })).body;

const link = (organizationId: number, integrationId: number, key: string, contact: number) =>
  env.DB.prepare(
    `INSERT INTO integration_contact (integration_id, external_id, organization_id, contact_id, seen_hash, seen) VALUES (?, ?, ?, ?, 'x', '{}')`,
  ).bind(integrationId, key, organizationId, contact);

test('the records of a deleted contact in connected tools are forgotten, and no others', async () => {
  const { client, id } = await newOrganization();
  const [gone, stays] = [await newContact(client), await newContact(client)];
  const integration = 5_000_000 + id;
  await env.DB.batch([
    link(id, integration, `phone:${gone.phone}`, gone.id),
    link(id, integration + 1, 'id:7', gone.id),
    link(id, integration, `phone:${stays.phone}`, stays.id),
  ]);
  const { message, cleanup } = await deleteContact(client, id, gone.id);
  await deliver('fanout', [message]);
  const { results } = await env.DB.prepare('SELECT contact_id FROM integration_contact WHERE organization_id = ?').bind(id).all();
  expect(results).toEqual([{ contact_id: stays.id }]);
  expect(await cleanup()).toBeNull();
});

test('messages to a deleted contact stay in the log, without the person they went to', async () => {
  const { client, id } = await messagingOrganization();
  const context = (await backgroundContext(env, id, () => undefined))!;
  const [gone, barred, stays] = [await newContact(client), await newContact(client), await newContact(client)];
  const send = (to: string, contactId: number) =>
    sendMessage(context, {
      sendKey: `step:${crypto.randomUUID()}`,
      to,
      content: { kind: 'template', templateName: 'order_update', language: 'en', params: { 1: 'Ada', 2: '1001' } },
      contactId,
      automationRunId: null,
    });
  await client.post('/contacts/suppressions', { phone: barred.phone, reason: 'asked' });
  for (const { id: contactId, phone } of [gone, barred, stays]) await send(phone, contactId);
  const before = await logOf(client);
  expect(JSON.stringify(before.find((one) => one.to === barred.phone))).toContain(`suppressed: ${barred.phone}`);
  for (const { id: contactId } of [gone, barred]) {
    const { message, cleanup } = await deleteContact(client, id, contactId);
    await deliver('fanout', [message]);
    expect(await cleanup()).toBeNull();
  }
  const after = await logOf(client);
  const kept = (one: any) => [one.id, one.status, one.template_name, one.failure_class, one.created_at, one.updated_at];
  expect(after.map(kept)).toEqual(before.map(kept));
  expect(after.find((one) => one.to === stays.phone)).toEqual(before.find((one) => one.to === stays.phone));
  const erased = after.filter((one) => one.to === '');
  expect(erased).toHaveLength(2);
  for (const one of erased) expect(one).toMatchObject({ contact_id: null, error: null, message_id: null });
  for (const { phone } of [gone, barred]) expect(JSON.stringify(after)).not.toContain(phone.slice(1));
  const stored = await env.DB.prepare('SELECT * FROM message WHERE organization_id = ? AND contact_id IS NULL').bind(id).all();
  for (const { phone } of [gone, barred]) expect(JSON.stringify(stored.results)).not.toContain(phone.slice(1));
});

test('more than a page of both is worked off page by page, along an index', async () => {
  const { client, id } = await newOrganization();
  const contact = await newContact(client);
  await env.DB.batch([
    env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)
       INSERT INTO message (organization_id, send_key, provider, kind, recipient, contact_id, status, status_rank, history, created_at, updated_at)
       SELECT ?1, 'step:' || i, 'provider_b', 'text', '+12125550000', ?2, 'sent', 3, '[]', 1, 1 FROM n`,
    ).bind(id, contact.id),
    env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)
       INSERT INTO integration_contact (integration_id, external_id, organization_id, contact_id, seen_hash, seen)
       SELECT ?3, 'id:' || i, ?1, ?2, 'x', '{}' FROM n`,
    ).bind(id, contact.id, 6_000_000 + id),
  ]);
  const { message, cleanup } = await deleteContact(client, id, contact.id);
  const recording: Recording = { statements: [], calls: 0 };
  const bindings = { ...env, DB: recordedDatabase(env.DB, recording) } as Env;
  vi.spyOn(env.FANOUT_QUEUE, 'send').mockResolvedValue(undefined as never);
  let pages = 0;
  for (; (await cleanup()) !== null && pages < 5; pages++) await deliver('fanout', [message], bindings);
  expect(pages).toBe(3);
  const left = await env.DB.prepare(
    `SELECT (SELECT count(*) FROM message WHERE organization_id = ?1 AND recipient <> '') AS messages,
       (SELECT count(*) FROM integration_contact WHERE organization_id = ?1) AS links`,
  )
    .bind(id)
    .first();
  expect(left).toEqual({ messages: 0, links: 0 });
  for (const { sql, plan } of await explainQueryPlans(recording))
    expect([sql, plan.filter((step) => /^SCAN (message|integration_contact)/.test(step))]).toEqual([sql, []]);
});
