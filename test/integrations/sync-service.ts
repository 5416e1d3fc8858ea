import { createExecutionContext, createMessageBatch, getQueueResult, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { shards } from '../../src/database/shards.ts';
import { startDueSyncs } from '../../src/integrations/sync/start-due-syncs.ts';
import { consumeBatch } from '../../src/queues/consume.ts';
import { simulatorsUrl } from '../support/carrier.ts';
import { changeAtGoogle, connectIntegration, leadsUrl } from '../support/integrations.ts';
import { Client, newOrganization, type NewOrganization } from '../support/organization.ts';

const app = createApp();
/** As wrangler.toml has it. */
const maxTries = 8;

export interface Waiting {
  queue: string;
  body: any;
  tries: number;
  delaySeconds: number;
}

export const acme = '10234695';
export const labs = '10234696';

export const everythingInbound = {
  phone: { external_field: 'phone', direction: 'inbound' },
  first_name: { external_field: 'first_name', direction: 'inbound' },
  last_name: { external_field: 'last_name', direction: 'inbound' },
  email: { external_field: 'email', direction: 'inbound' },
  company: { external_field: 'company_name', direction: 'inbound' },
  'custom_fields.source': { external_field: 'cf_source', direction: 'inbound' },
};

export const leadsMapping = { phone: 'Mobile No.', first_name: 'Full Name', email: 'E-mail', 'custom_fields.city': 'City' };

/** The service with the queue of syncs in the test's hands: nothing is read but by `step` and `work`. */
export async function syncService(options: NewOrganization = {}) {
  const messages: Waiting[] = [];
  const put = (body: unknown, delaySeconds = 0) =>
    void messages.push({ queue: 'syncs', body: structuredClone(body), tries: 0, delaySeconds });
  const bindings = {
    ...env,
    SYNCS_QUEUE: {
      send: async (body: unknown, more?: { delaySeconds?: number }) => put(body, more?.delaySeconds),
      sendBatch: async (batch: { body: unknown }[]) => batch.forEach(({ body }) => put(body)),
    },
  } as unknown as Env;
  const organization = await newOrganization(options);
  /** A client whose requests are served with these bindings. */
  const clientWith = (using: Env) =>
    new Client(organization.key, async (request) => {
      const execution = createExecutionContext();
      const answer = await app.fetch(request, using, execution);
      await waitOnExecutionContext(execution);
      return answer;
    });
  const client = clientWith(bindings);

  /** Hands a message over once: after how many seconds it comes again, null: not. `using` are the bindings of an isolate that may die. */
  const deliver = async (message: Waiting, using: Env = bindings): Promise<number | null> => {
    message.tries += 1;
    const batch = createMessageBatch(message.queue, [
      { id: crypto.randomUUID(), timestamp: new Date(), attempts: message.tries, body: message.body },
    ]);
    const retry = vi.spyOn(batch.messages[0]!, 'retry');
    const execution = createExecutionContext();
    await consumeBatch(batch, using, execution);
    await waitOnExecutionContext(execution);
    const { retryMessages } = await getQueueResult(batch, execution);
    return retryMessages.length > 0 ? (retry.mock.calls[0]?.[0]?.delaySeconds ?? 0) : null;
  };

  /** So long has the queue held a message back. */
  const pass = (syncId: number, seconds: number) =>
    env.DB.prepare('UPDATE integration_sync SET lease_until = lease_until - ? WHERE id = ?')
      .bind(seconds * 1000, syncId)
      .run();

  /** Takes the message that waits longest; undefined: none waits. After its last try it goes to the dead ones. */
  const step = async (using: Env = bindings): Promise<number | null | undefined> => {
    const message = messages.shift();
    if (!message) return undefined;
    if (message.delaySeconds > 0) await pass(message.body.id, message.delaySeconds);
    const again = await deliver({ ...message, delaySeconds: 0 }, using);
    if (again === null) return null;
    const tries = message.tries + 1;
    const next = { ...message, tries, delaySeconds: again };
    messages.push(tries > maxTries ? { ...next, queue: 'syncs-dead', tries: 0 } : next);
    return again;
  };

  const work = async (): Promise<void> => {
    for (let steps = 0; (await step()) !== undefined; steps++)
      if (steps > 500) throw new Error(`messages without end: ${JSON.stringify(messages[0])}`);
  };

  /** Books with an organization selected and mapped; nothing is read yet. */
  const connectBooks = async (field_mapping: Record<string, unknown> = everythingInbound, organization_id = acme): Promise<number> => {
    const { id } = await connectIntegration(client, 'books');
    await client.post(`/integration/${id}/books/organization`, { organization_id });
    const mapped = await client.put(`/integration/${id}/field-mapping`, { field_mapping });
    if (mapped.status !== 200) throw new Error(`not mapped: ${JSON.stringify(mapped.body)}`);
    return id as number;
  };

  const connectSheet = async (
    list: string,
    field_mapping: Record<string, string> = leadsMapping,
    sheet_url = leadsUrl,
  ): Promise<number> => {
    const { id } = await connectIntegration(client, 'sheet');
    const selected = await client.post(`/integration/${id}/sheet/select`, { sheet_url, contact_list_name: list, field_mapping });
    if (selected.status !== 200) throw new Error(`not selected: ${JSON.stringify(selected.body)}`);
    return id as number;
  };

  /** Reads all of it, and answers what was counted. */
  const resync = async (id: number): Promise<any> => {
    const started = await client.post(`/integration/${id}/resync`);
    if (started.status !== 200) throw new Error(`not started: ${JSON.stringify(started.body)}`);
    await work();
    return lastSync(id);
  };

  /** As when its quarter of an hour is over: the minute tick comes, and what it sends is worked off. */
  const poll = async (id: number): Promise<any> => {
    await env.DB.prepare('UPDATE integration SET next_sync_at = 1 WHERE id = ?').bind(id).run();
    await startDueSyncs(bindings, shards(bindings)[0]!, Date.now(), 0);
    const own = messages.filter(({ body }) => body.organization_id === organization.id);
    messages.splice(0, messages.length, ...own);
    await work();
    return lastSync(id);
  };

  const integrationOf = async (id: number): Promise<any> => (await client.get('/integration/')).body.find((one: any) => one.id === id);
  const lastSync = async (id: number): Promise<any> => (await integrationOf(id)).provider_data.last_sync;

  /** What the organization's own world at Zoho answers, asked without the service. */
  const atBooks = async (method: string, path: string, body?: unknown, organizationId = acme): Promise<any> => {
    const answer = await fetch(
      `${simulatorsUrl}/zohobooks/books/v3${path}${path.includes('?') ? '&' : '?'}organization_id=${organizationId}`,
      {
        method,
        headers: { authorization: `Zoho-oauthtoken org_${organization.id}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
      },
    );
    const read: any = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(read)}`);
    return read;
  };
  const addToBooks = async (count: number, organizationId = acme): Promise<void> => {
    const answer = await fetch(`${simulatorsUrl}/zohobooks/__sim/contacts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ customer: `org_${organization.id}`, organization_id: organizationId, count }),
    });
    if (answer.status !== 201) throw new Error(await answer.text());
    await answer.text();
  };
  /** Sets cells of the leads, from a cell on (`B2`). */
  const setCells = (cell: string, values: unknown[][]) => {
    const range = `Leads!${cell}:Z1000`;
    const path = `/v4/spreadsheets/simulated-leads/values/${range}?valueInputOption=RAW`;
    return changeAtGoogle(organization.id, 'PUT', path, { range, majorDimension: 'ROWS', values });
  };
  const deleteRows = (from: number, count: number) =>
    changeAtGoogle(organization.id, 'POST', '/v4/spreadsheets/simulated-leads:batchUpdate', {
      requests: [{ deleteDimension: { range: { sheetId: 0, dimension: 'ROWS', startIndex: from - 1, endIndex: from - 1 + count } } }],
    });

  const insertRows = (at: number, count: number) =>
    changeAtGoogle(organization.id, 'POST', '/v4/spreadsheets/simulated-leads:batchUpdate', {
      requests: [{ insertDimension: { range: { sheetId: 0, dimension: 'ROWS', startIndex: at - 1, endIndex: at - 1 + count } } }],
    });

  const contacts = async (): Promise<any[]> =>
    (
      await env.DB.prepare('SELECT * FROM contact WHERE organization_id = ? AND deleted_at IS NULL ORDER BY id')
        .bind(organization.id)
        .all<any>()
    ).results.map((row) => ({ ...row, custom_fields: JSON.parse(row.custom_fields), tags: JSON.parse(row.tags) }));
  const links = async (): Promise<any[]> =>
    (
      await env.DB.prepare('SELECT * FROM integration_contact WHERE organization_id = ? ORDER BY external_id')
        .bind(organization.id)
        .all<any>()
    ).results;
  /** Ids of the members of a list. */
  const members = async (name: string): Promise<number[]> =>
    (
      await env.DB.prepare(
        `SELECT m.contact_id AS id FROM contact_list l CROSS JOIN contact_list_member m
         WHERE l.organization_id = ? AND l.name = ? AND l.deleted_at IS NULL AND m.list_id = l.id ORDER BY m.contact_id`,
      )
        .bind(organization.id, name)
        .all<{ id: number }>()
    ).results.map(({ id }) => id);
  const listCount = async (name: string): Promise<number> =>
    (await client.get(`/contacts/lists?search=${encodeURIComponent(name)}`)).body.lists[0].contacts_count;

  return {
    ...organization,
    client,
    clientWith,
    bindings,
    messages,
    deliver,
    step,
    work,
    connectBooks,
    connectSheet,
    resync,
    poll,
    integrationOf,
    lastSync,
    atBooks,
    addToBooks,
    setCells,
    deleteRows,
    insertRows,
    contacts,
    links,
    members,
    listCount,
  };
}

export type SyncService = Awaited<ReturnType<typeof syncService>>;
