import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import type { Context } from '../../src/context.ts';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { Database } from '../../src/database/client.ts';
import { sendMessage, type MessageToSend } from '../../src/messaging/messages/send-message.ts';
import { newPhone } from '../support/organization.ts';
import { recordedDatabase, type Recording } from '../support/recorded-database.ts';
import { logOf, messagingOrganization, newCredentials, takenFor } from './accounts.ts';

afterEach(() => vi.restoreAllMocks());

/** The context of work in the background; `database` instead of the real one. */
async function contextOf(organizationId: number, database?: D1Database): Promise<Context> {
  const context = (await backgroundContext(env, organizationId, () => undefined))!;
  return database ? { ...context, database: new Database(database, true) } : context;
}

const wanted = (more: Partial<MessageToSend> = {}): MessageToSend => ({
  sendKey: `step:${crypto.randomUUID()}`,
  to: newPhone(),
  content: { kind: 'template', templateName: 'order_update', language: 'en', params: { 1: 'Ada', 2: '1001' } },
  contactId: null,
  automationRunId: null,
  ...more,
});

/** D1 that fails from its n-th call on. */
function failingFrom(n: number): D1Database {
  const recording = { statements: [], calls: 0 };
  return recordedDatabase(env.DB, recording, async () => {
    if (recording.calls >= n) throw new Error('the database is away');
  });
}

test('a message that is asked for again under its key is the same one, also at once, and is sent once', async () => {
  const { id, client } = await messagingOrganization();
  const context = await contextOf(id);
  const message = wanted();
  const first = await sendMessage(context, message);
  expect(await sendMessage(context, message)).toEqual(first);
  expect(await takenFor('provider_b', message.to)).toHaveLength(1);
  const other = wanted();
  const both = await Promise.all([sendMessage(context, other), sendMessage(context, other)]);
  expect(both.filter((sent) => 'messageId' in sent)).toHaveLength(1);
  expect(await takenFor('provider_b', other.to)).toHaveLength(1);
  expect(await logOf(client)).toHaveLength(2);
});

test('the one that was slower leaves the outcome to the one that sends', async () => {
  const { id, client } = await messagingOrganization();
  const context = await contextOf(id);
  const message = wanted();
  await Promise.all([sendMessage(context, message), sendMessage(context, message)]);
  expect((await logOf(client))[0]).toMatchObject({ status: 'accepted', error: null, failure_class: null, message_id: expect.any(String) });
});

test('one that is found being sent by somebody who died is unknown from then on, and never sent', async () => {
  const { id, client } = await messagingOrganization();
  const message = wanted();
  // The insert is the second call: the writing down of the outcome, and all after it, fails.
  const dying = await contextOf(id, failingFrom(3));
  const errors = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  expect(await sendMessage(dying, message)).toMatchObject({ messageId: expect.any(String) });
  expect(errors.mock.calls.join('\n')).toContain('what became of a message could not be written down');
  expect((await logOf(client))[0]).toMatchObject({ status: 'sending', message_id: null });
  const again = await sendMessage(await contextOf(id), message);
  expect(again).toMatchObject({ failure: { outcomeUnknown: true, retryable: false, message: expect.stringContaining('not sent again') } });
  expect((await logOf(client))[0]).toMatchObject({ status: 'unknown', history: [{ status: 'sending' }, { status: 'unknown' }] });
  expect(await sendMessage(await contextOf(id), message)).toEqual(again);
  expect(await takenFor('provider_b', message.to)).toHaveLength(1);
});

test.each([1, 2])('a database that is away at call %d keeps the message from being sent, and the next try sends it', async (call) => {
  const { id } = await messagingOrganization();
  const message = wanted();
  await expect(sendMessage(await contextOf(id, failingFrom(call)), message)).rejects.toThrow('away');
  expect(await takenFor('provider_b', message.to)).toEqual([]);
  expect(await sendMessage(await contextOf(id), message)).toMatchObject({ messageId: expect.any(String) });
});

test('a number that must not be written to is refused at the moment of sending, with the reason, until it may again', async () => {
  const { id, client } = await messagingOrganization();
  const context = await contextOf(id);
  const message = wanted();
  await client.post('/contacts/suppressions', { phone: message.to, reason: 'do_not_call: asked in call 12' });
  const refused = await sendMessage(context, message);
  expect(refused).toMatchObject({
    provider: 'provider_b',
    failure: { failure: 'suppressed', retryable: false, message: expect.stringContaining('do_not_call: asked in call 12') },
  });
  expect(await sendMessage(context, message)).toMatchObject({ id: refused.id, failure: { failure: 'suppressed', retryable: false } });
  expect((await logOf(client))[0]).toMatchObject({ status: 'failed', failure_class: 'suppressed', to: message.to });
  expect(await takenFor('provider_b', message.to)).toEqual([]);
  await client.delete(`/contacts/suppressions?phone=${encodeURIComponent(message.to)}`);
  expect(await sendMessage(context, wanted({ to: message.to }))).toMatchObject({ messageId: expect.any(String) });
});

test('a number that is suppressed between the look and the sending is refused, too', async () => {
  const { id, client } = await messagingOrganization();
  const message = wanted();
  const recording = { statements: [], calls: 0 };
  const database = recordedDatabase(env.DB, recording, async () => {
    if (recording.calls === 2) await client.post('/contacts/suppressions', { phone: message.to });
  });
  expect(await sendMessage(await contextOf(id, database), message)).toMatchObject({ failure: { failure: 'suppressed' } });
  expect(await takenFor('provider_b', message.to)).toEqual([]);
});

test('a message takes three calls to the database and writes its row twice', async () => {
  const { id } = await messagingOrganization();
  const recording: Recording = { statements: [], calls: 0 };
  await sendMessage(await contextOf(id, recordedDatabase(env.DB, recording)), wanted());
  expect(recording.calls).toBe(3);
  const writes = recording.statements.filter(({ rowsWritten }) => rowsWritten > 0);
  expect(writes.map(({ sql }) => sql.split(' ', 1)[0])).toEqual(['INSERT', 'UPDATE']);
});

test('another provider than the selected one sends where it is named, once it has credentials', async () => {
  const { id, client } = await messagingOrganization('provider_b');
  const context = await contextOf(id);
  expect(await sendMessage(context, wanted({ provider: 'provider_c' }))).toMatchObject({
    provider: 'provider_c',
    failure: { failure: 'not_configured', message: expect.stringContaining('provider_c has no credentials') },
  });
  await client.post('/organizations/messaging-config', { messaging_app: { provider_c: newCredentials().provider_c } });
  const message = wanted({ provider: 'provider_c' });
  expect(await sendMessage(context, message)).toMatchObject({ provider: 'provider_c', messageId: expect.any(String) });
  expect(await takenFor('provider_c', message.to)).toHaveLength(1);
});
