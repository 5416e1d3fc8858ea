import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { createActiveWorkflow, waitForEndedRuns } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

const keyed = { 'Idempotency-Key': 'again' };

/** As after a crash between the work and storing its answer, more than the minute ago for which the key stays marked. */
const loseAnswer = (organizationId: number) =>
  env.DB.prepare('UPDATE idempotency_key SET status = NULL, body = NULL, created_at = created_at - 61000 WHERE organization_id = ?')
    .bind(organizationId)
    .run();

/** As after so much time has passed. */
const age = (organizationId: number, ms: number) =>
  env.DB.batch(
    ['idempotency_key', 'automation_run'].map((table) =>
      env.DB.prepare(`UPDATE ${table} SET created_at = created_at - ? WHERE organization_id = ?`).bind(ms, organizationId),
    ),
  );

const execute = (client: Client, workflow: number, context: object = { n: 1 }) =>
  client.post(`/automation-workflows/${workflow}/execute`, { context }, keyed);

test('a repeated execute starts nothing again when the first died before its answer was stored', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {});
  const first = await execute(client, workflow);
  await waitForEndedRuns(client, workflow, 1);
  await loseAnswer(id);
  const second = await execute(client, workflow);
  expect(second).toMatchObject({ status: 200, body: { id: first.body.id, state: 'completed' } });
  expect(second.headers.get('idempotency-replayed')).toBeNull();
  await loseAnswer(id);
  expect((await execute(client, workflow)).body.id).toBe(first.body.id);
  await waitForEndedRuns(client, workflow, 1);
});

test('a key that is a day old, of another workflow or absent makes another request', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {});
  const other = await createActiveWorkflow(client, {});
  const first = await execute(client, workflow);
  expect((await execute(client, other)).body.id).not.toBe(first.body.id);
  await age(id, 86_400_001);
  const later = await execute(client, workflow);
  expect(later.body.id).not.toBe(first.body.id);
  await loseAnswer(id);
  expect((await execute(client, workflow)).body.id).toBe(later.body.id);
  const path = `/automation-workflows/${workflow}/execute`;
  const unkeyed = [await client.post(path, { context: { n: 1 } }), await client.post(path, { context: { n: 1 } })];
  await waitForEndedRuns(client, workflow, 4);
  expect(new Set([first, later, ...unkeyed].map(({ body }) => body.id)).size).toBe(4);
});

test('a repeated real test run or firing that died starts nothing again', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {});
  const trigger = await client.post(`/automation-workflows/${workflow}/triggers`, { type: 'manual' });
  const contacts = await Promise.all([1, 2].map(async () => (await client.post('/contacts', { phone: newPhone() })).body.id));
  const fire = () =>
    client.post(`/automation-workflows/${workflow}/triggers/${trigger.body.id}/fire`, { context: {}, contact_ids: contacts }, keyed);
  const tryOut = () => client.post(`/automation-workflows/${workflow}/test`, { context: {}, dry_run: false }, keyed);
  const idsOf = ({ body }: { body: any }) => body.runs.map((run: { id: number }) => run.id);
  const fired = await fire();
  const tried = await tryOut();
  await loseAnswer(id);
  const firedAgain = await fire();
  expect(firedAgain.body.triggered).toBe(2);
  expect(idsOf(firedAgain)).toEqual(idsOf(fired));
  expect((await tryOut()).body.id).toBe(tried.body.id);
  await waitForEndedRuns(client, workflow, 2);
});
