import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { isRecorded, unrecordedOperations } from '../../../src/http/recorded-operations.ts';
import { draft, farWindow, rowsRead, uploaded } from '../../campaigns/campaign-service.ts';
import { operations } from '../../http/operations.ts';
import { newUser } from '../../http/service.ts';
import { knowledgeService } from '../../knowledge-base/knowledge-service.ts';
import { createModel, gpt, stubVendors } from '../../language-models/own-vendors.ts';
import { callingOrganization, relayCallbacks } from '../../support/carrier.ts';
import { insertRow } from '../../support/insert-row.ts';
import { chain } from '../../support/journeys.ts';
import { decideConsent, finalizeConnecting, leadsUrl, startConnecting } from '../../support/integrations.ts';
import { newOrganization, newPhone, type Answer, type Client } from '../../support/organization.ts';
import { auditLog, newTeam, sessionClient } from '../../support/people.ts';

afterEach(() => vi.restoreAllMocks());

const changing = operations.filter(({ method, path, details }) =>
  isRecorded({ method: method.toLowerCase(), path, operationId: details['operationId'], security: details['security'] }),
);

/** Does each operation of a scenario; answers the client that reads the log, and what was done, in order. */
type Scenario = (done: (operationId: string, answer: Promise<Answer> | Answer) => Promise<any>) => Promise<Client>;

const scenarios: Record<string, Scenario> = {
  organization: async (done) => {
    const { client } = await newOrganization();
    await done('organization.update', client.patch('/organizations/current', { name: 'Acme' }));
    return client;
  },
  members: async (done) => {
    const { owner, admin, operator, viewer, client } = await newTeam();
    await done('members.changeRole', admin.client.patch(`/organizations/members/${viewer.userId}`, { role: 'operator' }));
    await done('members.offerReset', admin.client.post(`/organizations/members/${operator.userId}/password-reset`));
    await done('members.endSessions', admin.client.delete(`/organizations/members/${operator.userId}/sessions`));
    await done('members.remove', admin.client.delete(`/organizations/members/${operator.userId}`));
    await done('members.leave', viewer.client.post('/organizations/leave'));
    await done('members.transferOwnership', owner.client.post('/organizations/ownership', { user_id: admin.userId }));
    return client;
  },
  invitations: async (done) => {
    const { client } = await newTeam();
    const made = await done('invitations.create', client.post('/organizations/invitations', { role: 'viewer' }));
    await done('invitations.revoke', client.delete(`/organizations/invitations/${made.id}`));
    const { token } = await done('invitations.create', client.post('/organizations/invitations', { role: 'viewer' }));
    const joining = sessionClient((await newUser()).token);
    expect((await joining.post('/auth/invitations/join', { token })).status).toBe(200);
    return client;
  },
  apiKeys: async (done) => {
    const { client } = await newOrganization();
    const { id } = await done('apiKeys.create', client.post('/user/api-keys', { name: 'More' }));
    await done('apiKeys.revoke', client.delete(`/user/api-keys/${id}`));
    await done('apiKeys.reactivate', client.put(`/user/api-keys/${id}/reactivate`));
    return client;
  },
  contacts: async (done) => {
    const { client } = await newOrganization();
    await done('contacts.bulkUpsert', client.post('/contacts/bulk-upsert', { contacts: [{ phone: newPhone() }], list_name: 'L' }));
    const [{ id }] = (await client.get('/contacts')).body.contacts;
    await done('contacts.delete', client.delete(`/contacts/${id}`));
    const list = await done('contactLists.create', client.post('/contacts/lists', { name: 'Leads' }));
    await done('contactLists.update', client.put(`/contacts/lists/${list.id}`, { name: 'More leads' }));
    await done('contactLists.delete', client.delete(`/contacts/lists/${list.id}`));
    return client;
  },
  suppressions: async (done) => {
    const { client, id } = await newOrganization();
    const [one, two, three] = [newPhone(), newPhone(), newPhone()];
    const first = await done('suppressions.create', client.post('/contacts/suppressions', { phone: one, reason: 'asked' }));
    const more = { phone: two, reason: 'asked' };
    await done('suppressions.create', client.post('/contacts/suppressions', more));
    await done('suppressions.restore', client.post(`/contacts/suppressions/${first.id}/restore`, { reason: 'asked again' }));
    await done('suppressions.deleteByPhone', client.delete(`/contacts/suppressions?phone=${encodeURIComponent(two)}`));
    const last = await done('suppressions.create', client.post('/contacts/suppressions', { phone: three, reason: 'asked' }));
    await done('suppressions.delete', client.delete(`/contacts/suppressions/${last.id}`));
    await done('suppressions.import', client.post('/contacts/suppressions/import', { csv: `phone\n${newPhone()}\n`, reason: 'asked' }));
    for (const [index, verb] of (['confirm', 'dismiss'] as const).entries()) {
      const row = await env.DB.prepare(
        "INSERT INTO suppression_proposal (organization_id, phone, call_run_id, reason, created_at) VALUES (?, ?, ?, 'asked', ?) RETURNING id",
      )
        .bind(id, newPhone(), index + 1, Date.now())
        .first<{ id: number }>();
      await done(`suppressions.${verb}Proposal`, client.post(`/contacts/suppressions/proposals/${row!.id}/${verb}`));
    }
    return client;
  },
  contactPolicy: async (done) => {
    const { client } = await newOrganization();
    await done('contactPolicy.replace', client.put('/organizations/contact-policy', { days_off: { dates: ['2030-12-24'] } }));
    return client;
  },
  journeys: async (done) => {
    const { client } = await newOrganization();
    const { id } = await done('journeys.create', client.post('/automation-workflows', { name: 'J', definition: chain() }));
    await done('journeys.update', client.patch(`/automation-workflows/${id}`, { status: 'active' }));
    const made = { type: 'contact_event', name: 'T', config: { event_type: 'seen' } };
    const trigger = await done('triggers.create', client.post(`/automation-workflows/${id}/triggers`, made));
    await done('triggers.update', client.patch(`/automation-workflows/triggers/${trigger.id}`, { name: 'U' }));
    await done('triggers.archive', client.delete(`/automation-workflows/triggers/${trigger.id}`));
    await done('journeyRuns.move', client.post(`/automation-workflows/${id}/versions/1/move-runs`));
    await done('journeys.archive', client.delete(`/automation-workflows/${id}`));
    return client;
  },
  operations: async (done) => {
    const { client, id } = await newOrganization();
    const event = await insertRow('event', { organization_id: id, event_type: 'x', note: 'given_up: x', handled_at: 1, data: '{}' });
    await done('operations.retryStuck', client.post(`/operations/stuck/event:${event}/retry`));
    return client;
  },
  languageModels: async (done) => {
    stubVendors();
    const { client } = await newOrganization();
    const { id } = await createModel(client, gpt());
    await done('languageModels.create', { status: 200, body: {}, headers: new Headers() });
    await done('languageModels.update', client.put(`/language-models/${id}`, gpt({ name: 'Other' })));
    await done('languageModels.delete', client.delete(`/language-models/${id}`));
    return client;
  },
  telephonyConfigs: async (done) => {
    const { client } = await newOrganization();
    const twilio = { account_sid: `AC${'0'.repeat(32)}`, auth_token: 'secret-of-twilio' };
    const body = { name: 'T', provider: 'twilio', twilio, from_numbers: ['+12123456001'] };
    const { id } = await done('telephonyConfigs.create', client.post('/organizations/telephony-configs', body));
    await done('telephonyConfigs.update', client.patch(`/organizations/telephony-configs/${id}`, { name: 'U' }));
    await done('telephonyConfigs.delete', client.delete(`/organizations/telephony-configs/${id}`));
    return client;
  },
  agents: async (done) => {
    const { client, agentId } = await callingOrganization();
    await done('agents.create', { status: 200, body: {}, headers: new Headers() });
    await done('agents.update', client.put(`/workflow/${agentId}`, { name: 'Renamed' }));
    const { versions } = (await client.get(`/workflow/${agentId}/versions`)).body;
    await client.put(`/workflow/${agentId}`, { workflow_definition: { nodes: [], edges: [] } });
    await done('agents.restoreVersion', client.post(`/workflow/${agentId}/versions/${versions[0].id}/restore`));
    await done('agents.setStatus', client.put(`/workflow/${agentId}/status`, { status: 'archived' }));
    return client;
  },
  campaigns: async (done) => {
    const { client, agentId } = await callingOrganization();
    const file = `phone\n${newPhone()}\n`;
    const made = {
      name: 'Spring',
      workflow_id: agentId,
      source_type: 'csv',
      source_id: await uploaded(client, file),
      schedule_config: farWindow(),
    };
    const campaign = await done('campaigns.create', client.post('/campaign/create', made));
    const path = `/campaign/${campaign.id}`;
    await done('campaigns.update', client.patch(path, { name: 'Summer' }));
    await done('campaigns.start', client.post(`${path}/start`));
    await rowsRead(client, campaign.id);
    await done('campaigns.pause', client.post(`${path}/pause`));
    await done('campaigns.resume', client.post(`${path}/resume`));
    await done('campaigns.cancel', client.post(`${path}/cancel`));
    return client;
  },
  knowledgeBase: async (done) => {
    const service = await knowledgeService();
    const file = await service.upload({ content: 'Opening hours are from 9 to 5.' });
    const { document_uuid: uuid } = await done(
      'knowledgeBase.processDocument',
      service.client.post('/knowledge-base/process-document', file),
    );
    await service.work();
    await done('knowledgeBase.reprocessDocument', service.client.post(`/knowledge-base/documents/${uuid}/reprocess`));
    await done('knowledgeBase.deleteDocument', service.client.delete(`/knowledge-base/documents/${uuid}`));
    return service.client;
  },
  integrations: async (done) => {
    const { client } = await newOrganization();
    const begun = await done('integrations.connect', startConnecting(client, 'sheet'));
    await decideConsent(begun.redirect_url);
    const { id } = await done('integrations.finalize', finalizeConnecting(client, begun.request_id, 'sheet'));
    await done(
      'integrations.selectSheet',
      client.post(`/integration/${id}/sheet/select`, { sheet_url: leadsUrl, contact_list_name: 'Leads' }),
    );
    const mapping = (await client.get(`/integration/${id}/field-mapping`)).body;
    await done(
      'integrations.replaceFieldMapping',
      client.put(`/integration/${id}/field-mapping`, { ...mapping, mapping: { phone: 'Mobile No.' } }),
    );
    await done('integrations.resync', client.post(`/integration/${id}/resync`));
    await done('integrations.disconnect', client.post(`/integration/${id}/disconnect`));
    // By the id that paths name; the broker's id of the connection changes when it is connected again.
    const own = (await auditLog(client, `?record_type=integration&record_id=${id}`)).map(({ action }) => action);
    for (const action of ['finalize', 'selectSheet', 'replaceFieldMapping', 'resync', 'disconnect'])
      expect(own).toContain(`integrations.${action}`);
    const books = (await startConnecting(client, 'books')).body;
    await decideConsent(books.redirect_url);
    const connected = (await finalizeConnecting(client, books.request_id, 'books')).body;
    const [organization] = (await client.get(`/integration/${connected.id}/books/organizations`)).body.organizations;
    await done(
      'integrations.selectBooksOrganization',
      client.post(`/integration/${connected.id}/books/organization`, { organization_id: organization.organization_id ?? organization.id }),
    );
    const chat = (await startConnecting(client, 'chatapp')).body;
    await decideConsent(chat.redirect_url);
    const posting = (await finalizeConnecting(client, chat.request_id, 'chatapp')).body;
    await done('integrations.update', client.put(`/integration/${posting.id}`, { action: 'qualified_calls' }));
    return client;
  },
  webhookEndpoints: async (done) => {
    const { client } = await newOrganization();
    const { id } = await done('webhookEndpoints.create', client.post('/webhook-endpoints', { url: 'https://example.com/hook' }));
    const path = `/webhook-endpoints/${id}`;
    await done('webhookEndpoints.update', client.patch(path, { description: 'Ours' }));
    await done('webhookEndpoints.rotateSecret', client.post(`${path}/secret/rotate`));
    await done('webhookEndpoints.pause', client.post(`${path}/pause`));
    await done('webhookEndpoints.resume', client.post(`${path}/resume`));
    await done('webhookEndpoints.delete', client.delete(path));
    return client;
  },
  messaging: async (done) => {
    const { client } = await newOrganization();
    const provider_c = { api_key: 'secret-of-gupshup', source: '15550001', app_name: 'shop' };
    await done(
      'messaging.updateConfig',
      client.post('/organizations/messaging-config', { messaging_app: { provider: 'provider_c', provider_c } }),
    );
    return client;
  },
};

const recordedByScenario = new Set<string>();

describe.each(Object.entries(scenarios))('each change of %s', (_, scenario) => {
  test('has its entry, made in its name', async () => {
    const expected: string[] = [];
    const client = await scenario(async (operationId, answer) => {
      const { status, body } = await answer;
      expect([200, 201], `${operationId} ${JSON.stringify(body)}`).toContain(status);
      expected.push(operationId);
      recordedByScenario.add(operationId);
      return body;
    });
    const actions = new Map<string, Set<string>>();
    for (const { action, request_id } of await auditLog(client, '?limit=500'))
      actions.set(action, (actions.get(action) ?? new Set()).add(request_id));
    for (const operationId of new Set(expected))
      expect(actions.get(operationId)?.size ?? 0, operationId).toBeGreaterThanOrEqual(expected.filter((one) => one === operationId).length);
  }, 60_000);
});

describe('the operations of the document', () => {
  /** Operations with a test of their own. */
  const elsewhere = new Set([
    'auth.createOrganization',
    'auth.deleteAccount',
    'invitations.join',
    'organization.delete',
    'campaigns.redial',
  ]);

  test('that change something are all in a scenario above, or are named as unrecorded, with the reason', () => {
    const missing = changing.map(({ details }) => details['operationId']).filter((id) => !recordedByScenario.has(id) && !elsewhere.has(id));
    expect(missing).toEqual([]);
  });

  test('that are named as unrecorded exist, and are no reading', () => {
    const ids = new Set(operations.filter(({ method }) => method !== 'GET').map(({ details }) => details['operationId']));
    expect(Object.keys(unrecordedOperations).filter((id) => !ids.has(id))).toEqual([]);
  });
});

test('a new organization, its deletion and the deletion of an account have entries in the organizations that they change', async () => {
  const { token } = await newUser();
  const client = sessionClient(token);
  const { body: made } = await client.post('/auth/organizations', { name: 'Acme' });
  expect((await auditLog(client)).map(({ action, record_type }) => `${action} ${record_type}`).toSorted()).toEqual([
    'auth.createOrganization member',
    'auth.createOrganization organization',
  ]);
  expect((await client.delete('/organizations/current?confirm_name=Acme')).status).toBe(200);
  const { results } = await env.DB.prepare('SELECT action FROM account_audit_entry WHERE organization_id = ? ORDER BY id DESC LIMIT 1')
    .bind(made.id)
    .all();
  expect(results).toEqual([{ action: 'organization.delete' }]);
});

test('a redial has its entry', async () => {
  const { client, id, agentId, account } = await callingOrganization();
  const once = { retry_config: { enabled: false }, circuit_breaker: { enabled: false } };
  // The simulated carrier finds this number busy.
  const { id: campaign } = await draft(client, id, 'phone\n+12124870001\n', { workflow_id: agentId, ...once });
  await client.post(`/campaign/${campaign}/start`);
  await relayCallbacks(account, async () => (await client.get(`/campaign/${campaign}`)).body.state === 'completed');
  const again = await client.post(`/campaign/${campaign}/redial`, {});
  expect(again.status, JSON.stringify(again.body)).toBe(200);
  expect(await auditLog(client, '?action=campaigns.redial')).toMatchObject([{ record_type: 'campaign', record_id: String(again.body.id) }]);
  // What the campaign does by itself afterwards is nobody's change.
  expect((await auditLog(client, `?record_type=campaign&record_id=${campaign}`)).map(({ action }) => action)).toEqual([
    'campaigns.start',
    'campaigns.create',
  ]);
});

test('a new organization has no entry in the one that was selected when it was made', async () => {
  const { client, owner } = await newTeam();
  const { body: made } = await owner.client.post('/auth/organizations', { name: 'Second' });
  expect((await auditLog(owner.client)).map(({ action, record_type }) => `${action} ${record_type}`).toSorted()).toEqual([
    'auth.createOrganization member',
    'auth.createOrganization organization',
  ]);
  expect(made.id).toBeGreaterThan(0);
  expect(await auditLog(client)).toEqual([]);
});
