import { env, exports } from 'cloudflare:workers';
import { expect } from 'vitest';
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
