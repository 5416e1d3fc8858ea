import { env, exports } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import { validDefinition } from '../support/agent-definitions.ts';
import type { Answer, Client } from '../support/organization.ts';

/** PUTs bytes to an absolute URL without credentials. */
export async function put(url: string, file: BodyInit | null, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await exports.default.fetch(new Request(url, { method: 'PUT', body: file, headers }));
  return { status: response.status, body: await response.json(), headers: response.headers };
}

/** Uploads a file, and answers its source_id. */
export async function uploaded(client: Client, file: BodyInit, filename = 'people.csv'): Promise<string> {
  const ticket = await client.post('/campaign/upload-url', { filename, content_type: 'text/csv' });
  expect(ticket.status, JSON.stringify(ticket.body)).toBe(200);
  const answer = await put(ticket.body.upload_url, file);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return ticket.body.source_id;
}

/** A voice agent of the organization; answers its id. */
export async function newAgent(organizationId: number, status: 'active' | 'archived' = 'active'): Promise<number> {
  const now = Date.now();
  const row = await env.DB.prepare(
    `INSERT INTO voice_agent (organization_id, name, status, current_definition_id, template_context_variables, call_disposition_codes,
       workflow_configurations, created_at, updated_at) VALUES (?, 'Dialer', ?, 0, '{}', '{}', '{}', ?, ?) RETURNING id`,
  )
    .bind(organizationId, status, now, now)
    .first<{ id: number }>();
  await env.DB.batch([
    env.DB.prepare('INSERT INTO voice_agent_definition (organization_id, agent_id, definition, created_at) VALUES (?, ?, ?, ?)').bind(
      organizationId,
      row!.id,
      JSON.stringify(validDefinition),
      now,
    ),
    env.DB.prepare('UPDATE voice_agent SET current_definition_id = last_insert_rowid() WHERE id = ?').bind(row!.id),
  ]);
  return row!.id;
}

/** Creates a draft that calls the people of a CSV; answers its record. */
export async function draft(client: Client, organizationId: number, file: BodyInit, more: Record<string, unknown> = {}): Promise<any> {
  const created = await client.post('/campaign/create', {
    name: 'Spring',
    workflow_id: await newAgent(organizationId),
    source_type: 'csv',
    source_id: await uploaded(client, file),
    ...more,
  });
  expect(created.status, JSON.stringify(created.body)).toBe(200);
  return created.body;
}

/** A window that opens in three days' time: until then rows are read and nobody is called. */
export const farWindow = () => ({
  enabled: true,
  timezone: 'UTC',
  slots: [{ day_of_week: (new Date().getUTCDay() + 2) % 7, start_time: '10:00', end_time: '11:00' }],
});

/** The record, once the campaign is in a state. */
export const stateOf = (client: Client, campaign: number, state: string): Promise<any> =>
  vi.waitFor(
    async () => {
      const { body } = await client.get(`/campaign/${campaign}`);
      expect(body.state, JSON.stringify(body.state_reason)).toBe(state);
      return body;
    },
    { timeout: 15_000, interval: 20 },
  );

/** Once all rows have been read. */
export const rowsRead = (client: Client, campaign: number): Promise<any> => stateOf(client, campaign, 'running');
