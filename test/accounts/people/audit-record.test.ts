import { expect, test } from 'vitest';
import { auditRecord } from '../../../src/accounts/audit-log/audit-record.ts';
import { sealSecrets } from '../../../src/expressions/secrets/secrets.ts';
import { chain } from '../../support/journeys.ts';
import { newOrganization } from '../../support/organization.ts';
import { auditLog } from '../../support/people.ts';

const encryptionKey = btoa('0123456789abcdef0123456789abcdef');

/** A change of one column as callers see it: its value after. */
const shown = (column: string, value: unknown): unknown =>
  auditRecord(
    {
      id: 2,
      requestId: 'r',
      action: 'journeys.update',
      userId: 1,
      credential: 'key:1',
      address: null,
      recordType: 'automation_workflow',
      recordId: '1',
      change: JSON.stringify({ [column]: { after: value } }),
      createdAt: 0,
      userEmail: null,
    },
    'ada@example.com',
  ).change![column]!.after;

test('a secret in the address, the headers and the query of a request is masked, sealed or not', async () => {
  const request = {
    url: 'https://api.example.com/v1?api_key=secret-1&page=2',
    headers: { 'X-Own-Key': 'secret-2', Accept: 'text/plain' },
    query: [{ key: 'token', value: 'secret-3' }],
    auth: { password: 'secret-4' },
    body: { text: 'Hello' },
  };
  const masked = {
    url: 'https://api.example.com/v1?api_key=********&page=2',
    headers: { 'X-Own-Key': '********', Accept: 'text/plain' },
    query: [{ key: 'token', value: '********' }],
    auth: { password: '********' },
    body: { text: 'Hello' },
  };
  const definition = { nodes: [{ id: 'n', type: 'http_request', data: request }] };
  const sealed = await sealSecrets(encryptionKey, 1, definition);
  expect(JSON.stringify(sealed)).not.toContain('secret-');
  for (const stored of [definition, sealed]) {
    const text = JSON.stringify(shown('definition', JSON.stringify(stored)));
    expect(JSON.parse(text)).toEqual({ nodes: [{ id: 'n', type: 'http_request', data: masked }] });
  }
});

test('a secret in the address of a column is masked, and other values are shown', () => {
  expect(shown('url', 'https://example.com/hook?signature=abc&a=1')).toBe('https://example.com/hook?signature=********&a=1');
  expect(shown('base_url', 'https://example.com/v1')).toBe('https://example.com/v1');
  expect(shown('name', 'sealed: the deal')).toBe('sealed: the deal');
  expect(shown('secret', 'new secret')).toBe('new secret');
  expect(shown('expires_at', 0)).toBe('1970-01-01T00:00:00.000Z');
  expect(shown('is_active', 1)).toBe(true);
  expect(shown('retry_config', '{"enabled":true,"max":3}')).toEqual({ enabled: true, max: 3 });
});

test('the key in the address of a request of a journey is in no entry, not even sealed', async () => {
  const { client } = await newOrganization();
  const http = { id: 'h', type: 'http_request', data: { method: 'GET', url: 'https://api.example.com/?api_key=secret-of-the-api' } };
  const made = await client.post('/automation-workflows', { name: 'J', definition: chain(http) });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const text = JSON.stringify(await auditLog(client));
  expect(text).toContain('api_key=********');
  for (const part of ['secret-of-the-api', 'sealed']) expect(text).not.toContain(part);
});
