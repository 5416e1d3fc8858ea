import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSimulators } from '../../simulators/app.ts';
import { apiKey, owner, startWorld, success } from './broker-world.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** The simulators without a port. */
function start(ledgerFile?: string) {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const app = createSimulators({ ledgerFile, signal: ending.signal });
  const ask = async (method: string, path: string, { token, body, key }: { token?: string; body?: unknown; key?: string } = {}) => {
    const scheme = path.startsWith('/zohobooks') ? 'Zoho-oauthtoken' : 'Bearer';
    const headers = {
      ...(token !== undefined && { authorization: `${scheme} ${token}` }),
      ...(key !== undefined && { 'x-api-key': key }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const init = { method, headers, ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }) };
    const answer = await app.request(`http://127.0.0.1:8788${path}`, init);
    const text = await answer.text();
    return { status: answer.status, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text };
  };
  return { app, ask };
}

const events = '/googlecalendar/calendar/v3/calendars/primary/events';
const issues = '/jira/ex/jira/cloud-of-acme/rest/api/3/issue';
const contacts = '/zohobooks/books/v3/contacts?organization_id=10234695';
const cells = '/googlesheets/v4/spreadsheets/simulated-leads/values/Leads!A2';
const span = { start: { dateTime: '2026-12-01T10:00:00Z' }, end: { dateTime: '2026-12-01T11:00:00Z' } };
const fields = { project: { key: 'OPS' }, issuetype: { name: 'Task' }, summary: 'One' };

describe('credentials', () => {
  test.each([
    ['/slack/api/conversations.list', { status: 200, body: { ok: false, error: 'not_authed' } }],
    ['/jira/oauth/token/accessible-resources', { status: 401, body: { code: 401 } }],
    ['/googlecalendar/calendar/v3/users/me/calendarList', { status: 401, body: { error: { errors: [{ reason: 'authError' }] } } }],
    ['/googlesheets/v4/spreadsheets/simulated-leads', { status: 401, body: { error: { status: 'UNAUTHENTICATED' } } }],
    ['/googlesheets/drive/v3/files', { status: 401, body: { error: { status: 'UNAUTHENTICATED' } } }],
    ['/zohobooks/books/v3/organizations', { status: 401, body: { code: 14 } }],
  ])('that are missing or wrong are refused at %s, any others are good', async (path, refusal) => {
    const { ask } = start();
    expect(await ask('GET', path)).toMatchObject(refusal);
    const wrong = path.startsWith('/slack') ? { status: 200, body: { ok: false, error: 'invalid_auth' } } : refusal;
    expect(await ask('GET', path, { token: 'an-invalid-token' })).toMatchObject(wrong);
    expect(await ask('GET', path, { token: 'whoever' })).toMatchObject({ status: 200 });
  });

  test('of the broker are checked, and open the accounts of their own project alone', async () => {
    const { ask } = start();
    const path = '/composio/api/v3.1/connected_accounts';
    expect(await ask('GET', path)).toMatchObject({ status: 401, body: { error: { slug: 'HTTP_Unauthorized' } } });
    expect(await ask('GET', path, { key: 'invalid' })).toMatchObject({ status: 401, body: { error: { slug: 'InvalidApiKey' } } });
    await ask('POST', `${path}/link`, { key: 'one', body: { auth_config_id: 'ac_slack', user_id: 'org_1' } });
    expect(await ask('GET', path, { key: 'one' })).toMatchObject({ body: { total_items: 1 } });
    expect(await ask('GET', path, { key: 'two' })).toMatchObject({ body: { total_items: 0 } });
  });
});

describe('what the vendors do not know is refused', () => {
  test.each([
    ['POST', '/slack/api/chat.postMessage', { channel: 'general', text: 'x', txt: 1 }, 200, 'unknown argument: txt'],
    ['POST', '/slack/api/chat.postMessage', '{', 200, 'invalid_json'],
    ['GET', '/slack/api/conversations.list?limits=1', undefined, 200, 'unknown argument: limits'],
    ['GET', '/slack/api/conversations.list?limit=1000', undefined, 200, 'invalid_limit'],
    ['GET', '/slack/api/conversations.list?cursor=x', undefined, 200, 'invalid_cursor'],
    ['GET', '/slack/api/nothing', undefined, 200, 'unknown_method'],
    ['POST', issues, { fields: { ...fields, sumary: 'x' } }, 400, "Field 'sumary' cannot be set"],
    ['POST', issues, { fields: { ...fields, description: 'plain' } }, 400, 'must be an Atlassian Document'],
    ['POST', issues, { fields: { ...fields, summary: 'a\nb' } }, 400, 'newline'],
    ['POST', issues, { fields: { ...fields, summary: 'x'.repeat(256) } }, 400, 'less than 255'],
    ['POST', issues, { fields: { ...fields, labels: ['a b'] } }, 400, 'contains spaces'],
    ['POST', issues, '{', 415, 'Unsupported'],
    ['GET', '/jira/ex/jira/cloud-of-acme/rest/api/3/project/search?max=1', undefined, 400, 'Unknown query parameter'],
    ['GET', '/jira/ex/jira/cloud-of-acme/rest/api/3/search/jql?jql=x', undefined, 400, 'not understood'],
    ['GET', '/jira/ex/jira/cloud-of-other/rest/api/3/project/search', undefined, 404, 'Not Found'],
    ['POST', events, { ...span, sumary: 'x' }, 400, 'Unknown name \\"sumary\\"'],
    ['POST', events, { ...span, id: 'ABC' }, 400, 'Invalid resource id'],
    ['POST', events, { ...span, end: span.start }, 400, 'range is empty'],
    ['POST', `${events}?notify=1`, span, 400, 'Unknown name \\"notify\\"'],
    ['POST', '/googlecalendar/calendar/v3/freeBusy', { timeMin: 'today', timeMax: 'tomorrow', items: [] }, 400, 'Bad Request'],
    ['PUT', cells, { values: [['x']] }, 400, 'valueInputOption'],
    ['PUT', `${cells}?valueInputOption=RAW`, { values: [['x', 'y']] }, 400, 'tried writing'],
    ['PUT', `${cells}?valueInputOption=RAW`, { values: [['x']], range: 'Leads!B2' }, 400, 'the body says'],
    ['GET', `${cells}?render=x`, undefined, 400, 'Unknown name \\"render\\"'],
    ['GET', '/googlesheets/drive/v3/files?q=owner', undefined, 400, 'Invalid Value'],
    ['GET', '/googlesheets/drive/v3/files?pageSize=1001', undefined, 400, 'within the range'],
    ['POST', contacts, { contact_name: 'A', phone: '1' }, 400, 'Invalid value passed for phone'],
    ['POST', contacts, {}, 400, 'contact_name'],
    ['GET', `${contacts}&per_page=201`, undefined, 400, 'per_page'],
    ['GET', `${contacts}&since=1`, undefined, 400, 'since'],
    ['GET', `${contacts}&last_modified_time=2026-11-01`, undefined, 400, 'last_modified_time'],
    ['GET', '/zohobooks/books/v3/contacts', undefined, 400, '6041'],
    ['GET', '/zohobooks/books/v3/invoices', undefined, 404, 'Invalid URL'],
  ])('%s %s %j', async (method, path, body, status, words) => {
    const { ask } = start();
    const answer = await ask(method, path, { token: 'whoever', body });
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(words);
  });

  test.each([
    ['POST', '/connected_accounts/link', { auth_config_id: 'ac_none', user_id: 'org_1' }, 404],
    ['POST', '/connected_accounts/link', { auth_config_id: 'ac_jira', user_id: 'org_1' }, 400],
    ['POST', '/connected_accounts/link', { auth_config_id: 'ac_slack', user_id: 'org_1', callback: 'x' }, 400],
    ['GET', '/connected_accounts?user_id=org_1', undefined, 400],
    ['POST', '/tools/execute/proxy', { connected_account_id: 'ca_1', endpoint: 'https://slack.com/api/x', method: 'GET', query: {} }, 400],
    ['POST', '/tools/execute/proxy', { connected_account_id: 'ca_1', endpoint: 'https://slack.com/api/x', method: 'GET' }, 404],
    ['GET', '/nothing', undefined, 404],
  ])('by the broker, too: %s %s %j', async (method, path, body, status) => {
    const { ask } = start();
    const answer = await ask(method, `/composio/api/v3.1${path}`, { key: 'one', body });
    expect(answer).toMatchObject({ status, body: { error: { status, message: expect.any(String), slug: expect.any(String) } } });
  });
});

test('each customer has a world of their own at every vendor', async () => {
  const { ask } = start();
  await ask('PUT', `${cells}?valueInputOption=RAW`, { token: 'org_1', body: { values: [['Mine']] } });
  expect((await ask('GET', cells, { token: 'org_1' })).body.values).toEqual([['Mine']]);
  expect((await ask('GET', cells, { token: 'org_2' })).body.values).toEqual([['Amara Adeyemi']]);
});

test('typed input is taken for numbers and formulas, raw input is not', async () => {
  const { ask } = start();
  const values = [['+14155552671'], ['=1+1']];
  const write = (input: string) => ask('PUT', `${cells}:A3?valueInputOption=${input}`, { token: 'org_1', body: { values } });
  const stored = async () => (await ask('GET', `${cells}:A3?valueRenderOption=UNFORMATTED_VALUE`, { token: 'org_1' })).body.values;
  await write('RAW');
  expect(await stored()).toEqual(values);
  await write('USER_ENTERED');
  expect(await stored()).toEqual([[14_155_552_671], ['#ERROR!']]);
});

test('the consent page asks, takes an answer once, and can grant less', async () => {
  const { broker, consent, received } = await startWorld();
  const { requestId, redirectUrl } = await success(broker.start(owner, 'chatapp'));
  const page = await (await fetch(redirectUrl)).text();
  for (const words of ['Connect slack', '?decision=approve', '?decision=deny', 'channels:read']) expect(page).toContain(words);
  expect((await consent(redirectUrl, 'decision=approve&scopes=chat:write')).status).toBe(200);
  expect((await consent(redirectUrl, 'decision=deny')).status).toBe(410);
  expect((await fetch(`${redirectUrl}x`)).status).toBe(404);
  await broker.request(requestId, { method: 'GET', url: 'https://slack.com/api/conversations.list' });
  expect(await received('slack')).toHaveLength(1);
});

test('what was connected stays so when the simulators start again', async () => {
  const ledgerFile = join(temporaryDirectory(), 'requests.jsonl');
  const link = { auth_config_id: 'ac_slack', user_id: owner };
  const before = start(ledgerFile);
  const { body } = await before.ask('POST', '/composio/api/v3.1/connected_accounts/link', { key: apiKey, body: link });
  await before.ask('GET', `${new URL(body.redirect_url).pathname}?decision=approve`);
  const after = start(ledgerFile);
  const path = `/composio/api/v3.1/connected_accounts/${body.connected_account_id}`;
  expect(await after.ask('GET', path, { key: apiKey })).toMatchObject({ status: 200, body: { status: 'ACTIVE' } });
});

test('no answer of the broker holds a token of a vendor', async () => {
  const { url, broker, connect } = await startWorld();
  const { id } = await connect('chatapp');
  const answer = await fetch(`${url}/composio/api/v3.1/connected_accounts/${id}`, { headers: { 'x-api-key': apiKey } });
  expect(await answer.text()).not.toContain('simulated.');
  expect(JSON.stringify(await broker.get(id))).not.toContain('REDACTED');
});
