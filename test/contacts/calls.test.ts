import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { organizationWithAgent, completeCall } from '../support/journey-calls.ts';
import { newPhone, type Client } from '../support/organization.ts';
import { explainQueryPlans, recordedClient, rowsRead } from '../support/recorded-database.ts';

let attempts = 0;

/** Inserts the row of an agent's run. Returns its id. */
async function insertRun(organizationId: number, agentId: number, fields: Record<string, string | number | null> = {}): Promise<number> {
  const row = {
    organization_id: organizationId,
    agent_id: agentId,
    definition_id: 1,
    name: 'Greeter to somebody',
    mode: 'twilio',
    call_type: 'outbound',
    attempt_key: `test:${++attempts}`,
    phone: '+14155550100',
    initial_context: '{"order":"A-17"}',
    created_at: Date.now(),
    ...fields,
  };
  const names = Object.keys(row);
  const inserted = await env.DB.prepare(
    `INSERT INTO voice_agent_run (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')}) RETURNING id`,
  )
    .bind(...Object.values(row))
    .first<{ id: number }>();
  return inserted!.id;
}

const newContact = async (client: Client): Promise<number> => (await client.post('/contacts', { phone: newPhone() })).body.id;

test('the calls of a contact are listed newest first, as run records with their origin', async () => {
  const { client, id, agentId } = await organizationWithAgent();
  const contact_id = await newContact(client);
  const first = await insertRun(id, agentId, { contact_id, automation_run_id: 77 });
  await completeCall(first, { outcome: 'completed', disposition: 'interested' });
  const second = await insertRun(id, agentId, { contact_id, campaign_id: 5 });
  await insertRun(id, agentId, { contact_id, mode: 'textchat' });
  await insertRun(id, agentId, { contact_id: await newContact(client) });
  const { status, body } = await client.get(`/contacts/${contact_id}/calls`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ total: 2, limit: 50, offset: 0, next_cursor: null });
  expect(body.calls).toMatchObject([
    { id: second, workflow_id: agentId, campaign_id: 5, automation_run_id: null, outcome: null, is_completed: false },
    {
      id: first,
      campaign_id: null,
      automation_run_id: 77,
      outcome: 'completed',
      is_completed: true,
      contact_id,
      phone: '+14155550100',
      mode: 'twilio',
      call_type: 'outbound',
      initial_context: { order: 'A-17' },
      recording_url: null,
    },
  ]);
});

test('pages follow each other by offset and by cursor, without gaps', async () => {
  const { client, id, agentId } = await organizationWithAgent();
  const contact_id = await newContact(client);
  const ids: number[] = [];
  for (let n = 0; n < 5; n++) ids.unshift(await insertRun(id, agentId, { contact_id }));
  const seen: number[] = [];
  let cursor: string | null = '';
  do {
    const { body }: { body: any } = await client.get(`/contacts/${contact_id}/calls?limit=2${cursor ? `&cursor=${cursor}` : ''}`);
    expect(body.total).toBe(5);
    seen.push(...body.calls.map((call: { id: number }) => call.id));
    cursor = body.next_cursor;
  } while (cursor);
  expect(seen).toEqual(ids);
  const { body } = await client.get(`/contacts/${contact_id}/calls?limit=2&offset=3`);
  expect(body.calls.map((call: { id: number }) => call.id)).toEqual(ids.slice(3));
});

test('a wrong id or page is refused by name', async () => {
  const { client } = await organizationWithAgent();
  expect(await client.get('/contacts/none/calls')).toMatchObject({ status: 422, body: { detail: [{ loc: ['path', 'contact_id'] }] } });
  const contact = await newContact(client);
  expect(await client.get(`/contacts/${contact}/calls?limit=0`)).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ['query', 'limit'] }] },
  });
  expect(await client.get(`/contacts/${contact}/calls?cursor=x`)).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ['query', 'cursor'] }] },
  });
});

test("another organization's contact is unknown, and so is one that was deleted", async () => {
  const [mine, theirs] = [await organizationWithAgent(), await organizationWithAgent()];
  const contact = await newContact(theirs.client);
  await insertRun(theirs.id, theirs.agentId, { contact_id: contact });
  expect((await mine.client.get(`/contacts/${contact}/calls`)).status).toBe(404);
  await theirs.client.delete(`/contacts/${contact}`);
  expect((await theirs.client.get(`/contacts/${contact}/calls`)).status).toBe(404);
});

test('a list costs what it shows, however many calls others have had', async () => {
  const { client, id, agentId, key } = await organizationWithAgent();
  const contact_id = await newContact(client);
  await insertRun(id, agentId, { contact_id });
  const cost = async () => {
    const { client: recorded, recording } = recordedClient(key);
    expect((await recorded.get(`/contacts/${contact_id}/calls`)).body.total).toBe(1);
    return { recording, rows: rowsRead(recording) };
  };
  const before = await cost();
  const other = await newContact(client);
  for (let n = 0; n < 60; n++) await insertRun(id, agentId, { contact_id: n % 2 ? other : null });
  const after = await cost();
  expect(after.rows).toBeLessThanOrEqual(before.rows + 2);
  for (const { sql, plan } of await explainQueryPlans(after.recording))
    expect(plan.join('\n'), sql).not.toMatch(/SCAN (?!json_each|j\b|\()/);
});
