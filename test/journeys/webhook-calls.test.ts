import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { createActiveWorkflow, waitForEndedRuns } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { recordedClient, type Recording } from '../support/recorded-database.ts';

const sign = (secret: string, content: string) => createHmac('sha256', secret).update(content).digest('hex');
const signedBy = (secret: string) => ({ type: 'hmac_sha256', header: 'X-Signature', secret });

interface Hook {
  id: number;
  workflow: number;
  /** Sends a signed delivery. Answers its status, and how many calls to D1 came before the answer. */
  send(body: object, secret?: string): Promise<{ status: number; duplicate?: boolean; calls: number }>;
}

async function newHook({ client, key }: { client: Client; key: string }, config: Record<string, unknown>): Promise<Hook> {
  const workflow = await createActiveWorkflow(client, {});
  const { id, uuid } = (await client.post(`/automation-workflows/${workflow}/triggers`, { type: 'webhook', config })).body;
  const recording: Recording = { statements: [], calls: 0 };
  const recorded = recordedClient(key, { recording }).client;
  const send: Hook['send'] = async (body, secret) => {
    const before = recording.calls;
    const headers: Record<string, string> = secret === undefined ? {} : { 'X-Signature': sign(secret, JSON.stringify(body)) };
    const { status, body: answer } = await recorded.post(`/automation-workflows/webhook/${uuid}`, body, headers);
    return { status, duplicate: answer.duplicate, calls: recording.calls - before };
  };
  return { id, workflow, send };
}

const mapping = { phone: 'phone', email: 'email', first_name: 'name', external_id: 'ref' };

test('a delivery of a known trigger and contact is one call to D1; a changed contact is written first', async () => {
  const organization = await newOrganization();
  const { client } = organization;
  const hook = await newHook(organization, { auth: signedBy('s1'), delivery_id: '$.id', mapping, list_name: 'Senders' });
  const [phone, ref] = [newPhone(), crypto.randomUUID()];
  const send = (id: string, more: object = {}) => hook.send({ id, phone, name: 'Ada', ...more }, 's1');
  expect(await send('1')).toMatchObject({ status: 202, duplicate: false });
  expect(await send('2')).toEqual({ status: 202, duplicate: false, calls: 1 });
  expect(await send('2')).toEqual({ status: 202, duplicate: true, calls: 1 });
  const named = async () => (await client.get(`/contacts?phone=${encodeURIComponent(phone)}`)).body.contacts[0];
  expect((await send('3', { name: 'Grace' })).calls).toBeGreaterThan(1);
  expect(await named()).toMatchObject({ first_name: 'Grace', external_id: null });
  expect((await send('4', { name: 'Grace', ref })).calls).toBeGreaterThan(1);
  expect(await named()).toMatchObject({ external_id: ref });
  expect((await send('5', { name: 'Grace', ref })).calls).toBe(1);
  // Found by the external id alone, and without a word about other fields.
  expect((await hook.send({ id: '6', ref }, 's1')).calls).toBe(1);
  expect((await hook.send({ id: '7' }, 's1')).calls).toBe(1);
  const list = (await client.get('/contacts/lists')).body.lists.find(({ name }: { name: string }) => name === 'Senders');
  await client.delete(`/contacts/lists/${list.id}`);
  expect((await send('8', { name: 'Grace', ref })).calls).toBeGreaterThan(1);
  const runs = await waitForEndedRuns(client, hook.workflow, 7 + 1);
  const { id } = await named();
  expect(runs.map((run: { contact_id: number | null }) => run.contact_id).toSorted()).toEqual(
    [...Array<number>(7).fill(id), null].toSorted(),
  );
});

test('an e-mail address alone names its contact in the same call, unless two have it', async () => {
  const organization = await newOrganization();
  const { client } = organization;
  const hook = await newHook(organization, { auth: signedBy('s1'), mapping });
  const email = `${crypto.randomUUID()}@example.org`;
  const contact = (await client.post('/contacts', { phone: newPhone(), email })).body;
  await hook.send({}, 's1');
  expect(await hook.send({ email: email.toUpperCase() }, 's1')).toMatchObject({ status: 202, calls: 1 });
  await client.post('/contacts', { phone: newPhone(), email });
  expect(await hook.send({ email }, 's1')).toMatchObject({ status: 202, calls: 1 });
  const runs = await waitForEndedRuns(client, hook.workflow, 3);
  expect(runs.map((run: { contact_id: number | null }) => run.contact_id).filter((id: number | null) => id !== null)).toEqual([contact.id]);
});

test('a trigger that was changed a moment ago is obeyed at once: its secret, its mapping, its state', async () => {
  const organization = await newOrganization();
  const { client } = organization;
  const hook = await newHook(organization, { auth: signedBy('s1'), delivery_id: '$.id', mapping: { phone: 'phone' } });
  const change = (fields: object) => client.patch(`/automation-workflows/triggers/${hook.id}`, fields);
  const phone = newPhone();
  const statuses = async (...secrets: string[]) => {
    const answers = [];
    for (const secret of secrets) answers.push((await hook.send({ phone, id: crypto.randomUUID(), who: 'Eve' }, secret)).status);
    return answers;
  };
  expect(await statuses('s1', 's2')).toEqual([202, 401]);
  await change({ config: { auth: signedBy('s2'), delivery_id: '$.id', mapping: { phone: 'phone' } } });
  expect(await statuses('s1', 's2', 's1')).toEqual([401, 202, 401]);
  await change({ config: { auth: signedBy('s2'), delivery_id: '$.id', mapping: { phone: 'phone', first_name: 'who' } } });
  expect(await statuses('s2')).toEqual([202]);
  expect((await client.get(`/contacts?phone=${encodeURIComponent(phone)}`)).body.contacts[0].first_name).toBe('Eve');
  await change({ state: 'paused' });
  expect(await statuses('s2', 's1')).toEqual([409, 401]);
  await change({ state: 'active' });
  expect(await statuses('s2')).toEqual([202]);
  await waitForEndedRuns(client, hook.workflow, 4);
});
