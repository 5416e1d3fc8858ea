import { env } from 'cloudflare:workers';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { deliverDue } from '../../src/webhook-endpoints/sending/deliver-due.ts';
import { processDeletion } from '../../src/cron/delete-organization/process-deletion.ts';
import { runInvocation } from '../../src/database/query-budget.ts';
import { shards } from '../../src/database/shards.ts';
import { findRunsToExit } from '../../src/automation-workflows/runs/exits/store.ts';
import { recordHash } from '../../src/knowledge-base/pipeline/store.ts';
import { selectSuppressed } from '../../src/contacts/suppressions/store.ts';
import { ContactPolicyBody } from '../../src/contact-policy/policy.ts';
import { reserveContacts } from '../../src/contact-policy/reserve-contacts.ts';
import { findByMessageIds } from '../../src/messaging/messages/store.ts';
import { operations, type Operation } from '../http/operations.ts';
import { asBearer, newSession } from '../http/service.ts';
import { validDefinition } from './agent-definitions.ts';
import { deliver, tickAt } from './background.ts';
import { fillOrganization } from './fill-organization.ts';
import { insertRow } from './insert-row.ts';
import { createActiveWorkflow } from './journeys.ts';
import { newOrganization, newPhone, type Client } from './organization.ts';

type Ids = Record<string, string | number>;

/** Asks the service for everything once: each operation with its examples, each list with each filter, the tick, cleanups, a deletion. */
export async function useWholeService(): Promise<void> {
  const { client, id, userId } = await newOrganization();
  const ids = await createRecords(client, userId, id);
  const session = asBearer(await newSession(userId, id));
  for (const operation of operations.filter(({ method }) => method !== 'DELETE')) {
    await call(client, operation, ids);
    if (operation.path.startsWith('/auth/') && operation.method === 'GET') await session.get(operation.path);
  }
  await client.get('/audit-log?record_type=contact_list&record_id=1');
  await askInside(id);
  await sendWebhooks(id, ids['endpoint_id'] as number);
  await workOffCleanups(id, ids);
  await tickAt(Date.now());
  for (const operation of operations.filter(({ method }) => method === 'DELETE')) await call(client, operation, ids);
  await workOffCleanups(id, ids);
  await tickAt(Date.now());
  await deleteOrganization();
}

async function createRecords(client: Client, userId: number, organizationId: number): Promise<Ids> {
  const create = async (path: string, body: unknown) => (await client.post(path, body)).body;
  const contact = await create('/contacts', { phone: newPhone() });
  const workflow = await createActiveWorkflow(client, { trigger: { type: 'contact_event', config: { event_type: 'ordered' } } });
  const hook = await create(`/automation-workflows/${workflow}/triggers`, { type: 'webhook', config: { delivery_id: '$.id' } });
  const agent = await create('/workflow/create/definition', { name: 'Agent', workflow_definition: validDefinition });
  await client.put(`/workflow/${agent.id}`, { template_context_variables: { company: 'Acme' } });
  return {
    user_id: userId,
    contact_id: contact.id,
    proposal_id: await insertRow('suppression_proposal', { organization_id: organizationId, phone: newPhone() }),
    list_id: (await create('/contacts/lists', { name: 'Members' })).id,
    'automation-workflows/workflow_id': workflow,
    trigger_id: hook.id,
    trigger_uuid: hook.uuid,
    endpoint_id: (await create('/webhook-endpoints', { url: 'http://127.0.0.1:8788/receiver' })).id,
    'workflow/workflow_id': agent.id,
    version_id: agent.current_definition_id,
    version: 1,
  };
}

/** Nobody's, so that no request ends the key or the session that the other requests have. */
const nobodys = 999_999_999;

async function call(client: Client, operation: Operation, ids: Ids): Promise<void> {
  const area = operation.path.split('/')[1];
  const at = operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => String(ids[`${area}/${name}`] ?? ids[name] ?? nobodys));
  if (operation.method === 'DELETE') return void (at.includes('/current') || (await client.delete(at)));
  if (operation.method === 'GET') {
    await client.get(at);
    for (const { name, in: place, schema } of operation.parameters)
      if (place === 'query' && !['limit', 'offset', 'cursor'].includes(name))
        for (const value of name in ids ? [String(ids[name])] : valuesOf(schema))
          await client.get(`${at}?${name}=${encodeURIComponent(value)}`);
    return;
  }
  const method = operation.method.toLowerCase() as 'post' | 'put' | 'patch';
  const contents = Object.values<any>(operation.details['requestBody']?.content ?? { none: {} });
  const bodies = contents.flatMap(({ example, examples }) =>
    examples ? Object.values<any>(examples).map(({ value }) => value) : [example],
  );
  for (const body of bodies) await client[method](at, body);
}

function valuesOf(schema: Record<string, any>): string[] {
  const { type, format, enum: values } = schema['anyOf']?.[0] ?? schema;
  if (values) return values;
  if (type === 'boolean') return ['true', 'false'];
  if (type === 'integer') return ['5'];
  return format?.startsWith('date') ? ['2026-01-01T00:00:00Z'] : ['+12125550100', 'abc'];
}

/** What only carriers, providers and consumers ask. */
async function askInside(organizationId: number): Promise<void> {
  const database = shards(env)[0]!;
  await database.all(selectSuppressed(database, organizationId, ['+12125550100'], 0));
  const context = (await backgroundContext(env, organizationId, () => undefined))!;
  const attempt = { key: 'a', phone: '+12125550100', channel: 'call', source: 'single', sourceId: 0 } as const;
  await reserveContacts(context, ContactPolicyBody.parse({ limits: [{ max: 1, per: 'day' }] }), [attempt]);
  await findByMessageIds(database, organizationId, 'provider_a', ['a']);
  await recordHash(database, { id: 1, organization_id: organizationId, generation: 1 }, { hash: 'a', bytes: 1 });
  await findRunsToExit(database, organizationId, [{ event_id: 1, event_at: 1, workflow_id: 1, contact_id: 1, entry_key: 'a' }], 0, 1);
}

async function sendWebhooks(organizationId: number, endpointId: number): Promise<void> {
  const context = (await backgroundContext(env, organizationId, () => undefined))!;
  await runInvocation(() => deliverDue(context, endpointId, { sent: [] }, () => false));
}

async function workOffCleanups(organizationId: number, ids: Ids): Promise<void> {
  const subjects = {
    contact_deleted: ids['contact_id'],
    list_deleted: ids['list_id'],
    workflow_archived: ids['automation-workflows/workflow_id'],
    workflow_resumed: ids['automation-workflows/workflow_id'],
    runs_marked: ids['automation-workflows/workflow_id'],
    integration_disconnected: 1,
    run_ended: 1,
  };
  for (const [kind, subject] of Object.entries(subjects)) {
    const cleanup = await insertRow('cleanup', { organization_id: organizationId, created_at: 1, kind, subject_id: subject! });
    await deliver('fanout', [{ v: 1, kind: 'cleanup', organization_id: organizationId, id: cleanup }]);
  }
}

async function deleteOrganization(): Promise<void> {
  const { client, id, userId } = await newOrganization();
  await fillOrganization(id, userId);
  await client.delete('/organizations/current?confirm_name=Test%20organization');
  await env.DB.prepare('UPDATE deletion SET created_at = created_at - 180000 WHERE subject_id = ?').bind(id).run();
  const isFinished = () =>
    env.DB.prepare('SELECT 1 FROM deletion WHERE subject_id = ? AND finished_at IS NOT NULL').bind(id).first().then(Boolean);
  while (!(await isFinished())) await runInvocation(() => processDeletion(env, id, () => undefined));
}
