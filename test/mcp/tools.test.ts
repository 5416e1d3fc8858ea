import { Validator } from '@cfworker/json-schema';
import { expect, test } from 'vitest';
import { basePath } from '../../src/http/public-url.ts';
import { toInputSchema } from '../../src/mcp/input-schema.ts';
import { findOperation } from '../../src/mcp/operations.ts';
import { prepareTools } from '../../src/mcp/server.ts';
import { toHttpRequest } from '../../src/mcp/tool-request.ts';
import { maxResultLength, toToolResult } from '../../src/mcp/tool-result.ts';
import { instructions, tools } from '../../src/mcp/tools.ts';
import { document } from '../http/operations.ts';

const prepared = prepareTools(document, basePath);
const surroundings = { origin: 'https://service.test', headers: { 'X-API-Key': 'vaa_test' } };
const requestFor = (name: string, given: Record<string, unknown>) => {
  const { operation, description } = prepared.get(name)!;
  return toHttpRequest(operation, description, given, surroundings);
};

test('every tool is made of an operation of the API, under a name of its own that every client takes', () => {
  expect(prepared.size).toBe(tools.length);
  for (const name of prepared.keys()) expect(name).toMatch(/^[a-z][a-z_]{2,50}$/);
});

test('every schema stands alone: what it refers to is in its own $defs', () => {
  for (const { listed } of prepared.values()) {
    const text = JSON.stringify(listed.inputSchema);
    expect(text).not.toContain('#/components');
    for (const [, name] of text.matchAll(/"#\/\$defs\/([^"]+)"/g)) expect(Object.keys(listed.inputSchema.$defs as object)).toContain(name);
    expect(() => new Validator(listed.inputSchema as object, '2020-12').validate({})).not.toThrow();
  }
});

test('tools that call people or end something are marked, and only tools that change nothing say that they read', () => {
  const marked = [...prepared.values()]
    .filter(({ listed }) => listed.annotations?.destructiveHint)
    .map(({ description }) => description.name);
  expect(marked.toSorted()).toEqual([
    'call_or_chat',
    'resume_campaign',
    'send_event',
    'start_campaign',
    'stop_run',
    'update_agent',
    'update_journey',
  ]);
  for (const { listed, operation, description } of prepared.values()) {
    if (listed.annotations?.readOnlyHint) expect(operation.method === 'GET' || description.isReading, listed.name).toBe(true);
    expect(listed.annotations?.readOnlyHint && listed.annotations.destructiveHint, listed.name).toBe(false);
  }
});

test('the instructions name only tools that exist', () => {
  const named = [...instructions.matchAll(/\b[a-z]+(?:_[a-z]+)+\b/g)]
    .map(([word]) => word)
    .filter((word) => /^(list|get|create|update|validate|test|start|preview)_/.test(word));
  expect(named.length).toBeGreaterThan(10);
  for (const name of named) expect([...prepared.keys()]).toContain(name);
});

test('arguments go where the operation takes them: path, query, body, header', async () => {
  const request = requestFor('update_journey', { workflow_id: 7, status: 'active', idempotency_key: 'once' }) as Request;
  expect([request.method, new URL(request.url).pathname]).toEqual(['PATCH', '/api/v1/automation-workflows/7']);
  expect(await request.json()).toEqual({ status: 'active' });
  expect(Object.fromEntries(request.headers)).toMatchObject({ 'idempotency-key': 'once', 'x-api-key': 'vaa_test' });
  const search = requestFor('find_contacts', { search: 'Ada & Co', limit: 5 }) as Request;
  expect(new URL(search.url).search).toBe('?limit=5&search=Ada+%26+Co');
  const searchOf = (args: Record<string, unknown>) => new URL((requestFor('list_campaigns', args) as Request).url).search;
  expect([searchOf({}), searchOf({ limit: 5 })]).toEqual(['?limit=50', '?limit=5']);
});

test('a path argument cannot lead to another path', () => {
  const request = requestFor('get_contact', { contact_id: '../organizations/current?x=' }) as Request;
  expect(new URL(request.url).pathname).toBe('/api/v1/contacts/..%2Forganizations%2Fcurrent%3Fx%3D');
});

test('what is fixed cannot be overruled', async () => {
  expect(Object.keys((prepared.get('test_journey')!.listed.inputSchema.properties ?? {}) as object)).not.toContain('dry_run');
  const request = requestFor('test_journey', { workflow_id: 1, dry_run: false }) as Request;
  expect(await request.json()).toMatchObject({ dry_run: true });
});

test('a missing path argument is named before anything is asked', () => {
  expect(requestFor('get_run', {})).toBe('The argument run_id is missing');
});

test('two arguments of one name are refused when the tools are made', () => {
  const operation = findOperation(document, 'GET /contacts/{contact_id}', basePath);
  const doubled = { ...operation, parameters: [...operation.parameters, ...operation.parameters] };
  expect(() => toInputSchema(document, doubled, tools[0]!)).toThrow('two arguments named contact_id');
  expect(() => findOperation(document, 'GET /nowhere', basePath)).toThrow('no operation GET /nowhere');
});

test('an answer that would fill the memory of an assistant is cut and says how to go on', async () => {
  const long = await toToolResult(Response.json({ contacts: 'x'.repeat(maxResultLength) }));
  expect(long.structuredContent).toBeUndefined();
  expect(JSON.stringify(long.content)).toContain('Ask for fewer at a time with limit');
  const csv = await toToolResult(new Response('a'.repeat(maxResultLength + 1), { headers: { 'Content-Type': 'text/csv' } }));
  expect(JSON.stringify(csv.content)).toContain(`the answer has ${maxResultLength + 1} characters`);
});
