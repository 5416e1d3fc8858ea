import { encodeText } from '../support/encode-text.ts';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { recordedClient } from '../support/recorded-database.ts';
import { Client, newOrganization } from '../support/organization.ts';
import { draft, newAgent, put, uploaded } from './campaign-service.ts';

const csv = 'Phone;First name\n+12123456001;Ada\n';
const monday = { day_of_week: 0, start_time: '09:00', end_time: '17:00' };

test('a campaign is created as a draft with every default, and is read as it was answered', async () => {
  const { client, id } = await newOrganization({ timezone: 'Europe/Oslo' });
  const agent = await newAgent(id);
  const sourceId = await uploaded(client, csv);
  const created = await client.post('/campaign/create', {
    name: ' Spring  offer ',
    workflow_id: agent,
    source_type: 'csv',
    source_id: sourceId,
  });
  expect([created.status, created.body]).toEqual([
    200,
    {
      id: expect.any(Number),
      name: 'Spring offer',
      workflow_id: agent,
      workflow_name: 'Dialer',
      definition_id: null,
      state: 'draft',
      state_reason: null,
      source_type: 'csv',
      source_id: sourceId,
      source_options: {},
      redial_of: null,
      total_rows: 1,
      processed_rows: 0,
      completed_rows: 0,
      failed_rows: 0,
      skipped_rows: 0,
      in_flight: 0,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      started_at: null,
      completed_at: null,
      retry_config: {
        enabled: true,
        max_retries: 2,
        retry_delay_seconds: 120,
        retry_on_busy: true,
        retry_on_no_answer: true,
        retry_on_voicemail: true,
        backoff_factor: 1,
      },
      max_concurrency: 100,
      schedule_config: { enabled: false, timezone: 'Europe/Oslo', slots: [], use_contact_timezone: false },
      circuit_breaker: { enabled: true, failure_threshold: 0.5, window_seconds: 120, min_calls_in_window: 5 },
      warnings: [],
      logs: [],
    },
  ]);
  const path = `/campaign/${created.body.id}`;
  expect((await client.get(path)).body).toEqual(created.body);
  expect((await client.get(`${path}/`)).body).toEqual(created.body);
  expect((await client.get('/campaign/')).body).toEqual({ campaigns: [created.body], total: 1, limit: 1, offset: 0, next_cursor: null });
});

test('a draft counts the rows of its source, and shows none before they are read', async () => {
  const { client, id } = await newOrganization();
  const path = `/campaign/${(await draft(client, id, csv)).id}`;
  expect((await client.get(`${path}/runs`)).body).toEqual({ runs: [], total: 0, limit: 50, offset: 0, next_cursor: null });
  expect((await client.get(`${path}/progress`)).body).toMatchObject({
    state: 'draft',
    total_rows: 1,
    rows: { pending: 1, completed: 0 },
    outcomes: { completed: 0, busy: 0 },
    waiting: null,
  });
  const report = await client.get(`${path}/report`);
  expect([report.status, report.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(report.body.trim()).toMatch(
    /^\ufeff?row_number,phone,contact_id,state,outcome,reason,attempts,next_attempt_at,run_ids,disposition,[^\n]*$/,
  );
});

test('settings are taken over, and time_slots are the schedule in other words', async () => {
  const { client, id } = await newOrganization();
  const created = await draft(client, id, csv, {
    retry_config: { max_retries: 0, backoff_factor: 2 },
    max_concurrency: 7,
    time_slots: [{ day: 'Tuesday', start: '09:00', end: '24:00' }],
    circuit_breaker: { enabled: false },
    source_options: { phone_column: 'phone', default_country: 'de' },
  });
  expect(created).toMatchObject({
    retry_config: { enabled: true, max_retries: 0, backoff_factor: 2 },
    max_concurrency: 7,
    schedule_config: { enabled: true, slots: [{ day_of_week: 1, start_time: '09:00', end_time: '24:00' }] },
    circuit_breaker: { enabled: false, min_calls_in_window: 5 },
    source_options: { phone_column: 'phone', default_country: 'DE' },
  });
});

test('creating a campaign calls D1 twice, and reads only the beginning of its file', async () => {
  const { client, id, key } = await newOrganization();
  const body = { name: 'Big', workflow_id: await newAgent(id), source_type: 'csv', source_id: await uploaded(client, csv.repeat(100_000)) };
  const recorded = recordedClient(key);
  expect((await recorded.client.post('/campaign/create', body)).status).toBe(200);
  const own = recorded.recording.statements.filter(({ sql }) => !/api_key|audit_/.test(sql));
  expect(own.map(({ sql }) => sql.split(' ').slice(0, 3).join(' ').toLowerCase())).toEqual([
    expect.stringMatching(/^select/),
    'insert into campaign',
    'insert into write_receipt',
  ]);
});

test('a campaign over a contact list takes the list’s id as text', async () => {
  const { client, id } = await newOrganization();
  const list = (await client.post('/contacts/lists', { name: 'Everybody' })).body;
  const body = { name: 'List', workflow_id: await newAgent(id), source_type: 'contact_list', source_id: String(list.id) };
  expect((await client.post('/campaign/create', body)).body).toMatchObject({
    state: 'draft',
    source_type: 'contact_list',
    source_id: String(list.id),
  });
  const options = await client.post('/campaign/create', { ...body, source_options: { phone_column: 'mobile' } });
  expect([options.status, options.body.detail[0].loc]).toEqual([422, ['body', 'source_options']]);
});

test('an unknown source is 404, as is a source or an agent of another organization', async () => {
  const { client, id } = await newOrganization();
  const other = await newOrganization();
  const workflow_id = await newAgent(id);
  const foreignList = (await other.client.post('/contacts/lists', { name: 'Theirs' })).body.id;
  const unused = (await client.post('/campaign/upload-url', { filename: 'a.csv' })).body.source_id;
  const sources = [
    ['csv', unused],
    ['csv', await uploaded(other.client, csv)],
    ['csv', crypto.randomUUID()],
    ['csv', '../2/x'],
    ['csv', ''],
    ['contact_list', String(foreignList)],
    ['contact_list', '999999999'],
    ['contact_list', 'abc'],
    ['contact_list', '-1'],
    ['sheet', '1'],
  ];
  const details = new Map<string, string>();
  for (const [source_type, source_id] of sources) {
    const answer = await client.post('/campaign/create', { name: 'x', workflow_id, source_type, source_id });
    expect([source_type, source_id, answer.status]).toEqual([source_type, source_id, 404]);
    details.set(source_type!, (details.get(source_type!) ?? '') + answer.body.detail + '\n');
  }
  // All get the same error, which does not show what another organization has.
  for (const detail of details.values()) expect(new Set(detail.trim().split('\n')).size).toBe(1);
  expect(details.get('csv')).toContain('PUT the file to the upload_url');
  expect(details.get('sheet')).toContain('Integration not found');

  const source_id = await uploaded(client, csv);
  for (const agent of [await newAgent(other.id), 999_999_999]) {
    const answer = await client.post('/campaign/create', { name: 'x', workflow_id: agent, source_type: 'csv', source_id });
    expect([answer.status, answer.body.detail]).toEqual([404, 'Voice agent not found']);
  }
  const { results } = await env.DB.prepare('SELECT id FROM campaign WHERE organization_id = ?').bind(id).all();
  expect(results).toEqual([]);
});

test.each([
  ['', ['body', 'source_id'], 'The file is empty'],
  ['\n \n', ['body', 'source_id'], 'empty'],
  ['phone,name\n', ['body', 'source_id'], 'no rows below'],
  ['name,city\nAda,Paris\n', ['body', 'source_id'], '"name", "city"'],
  ['PK\u0003\u0004....', ['body', 'source_id'], 'people.csv: The file is damaged'],
  [`phone,name\n+12123456001,${'x'.repeat(2 << 20)}\n`, ['body', 'source_id'], 'Row 2 is longer than 1 MiB'],
])('a file that nobody could be called from is 422 and says what was found: %j', async (file, loc, said) => {
  const { client, id } = await newOrganization();
  const body = { name: 'x', workflow_id: await newAgent(id), source_type: 'csv', source_id: await uploaded(client, file) };
  const answer = await client.post('/campaign/create', body);
  expect([answer.status, answer.body.detail[0].loc, answer.body.detail[0].msg]).toEqual([422, loc, expect.stringContaining(said)]);
});

test.each([
  ['windows-1252', ['body', 'source_options', 'encoding'], 'not in windows-1252'],
  ['utf-8', ['body', 'source_options', 'encoding'], 'not in utf-8'],
  ['utf-16be', ['body', 'source_id'], 'read as utf-16be, which source_options.encoding names; leave that out'],
])('a file that is not in the encoding %s that is named for it is 422, and says so', async (encoding, loc, said) => {
  const { client, id } = await newOrganization();
  const source_id = await uploaded(client, encodeText('Vorname\tTelefon\nJürgen\t(212) 456-7777\n', 'utf-16le'));
  const body = { name: 'x', workflow_id: await newAgent(id), source_type: 'csv', source_id };
  const answer = await client.post('/campaign/create', { ...body, source_options: { encoding } });
  expect([answer.status, answer.body.detail[0].loc, answer.body.detail[0].msg]).toEqual([422, loc, expect.stringContaining(said)]);
  expect((await client.post('/campaign/create', body)).body).toMatchObject({ state: 'draft', total_rows: 1 });
});

test('a phone column that the file does not have is 422 at the option', async () => {
  const { client, id } = await newOrganization();
  const body = { name: 'x', workflow_id: await newAgent(id), source_type: 'csv', source_id: await uploaded(client, csv) };
  const answer = await client.post('/campaign/create', { ...body, source_options: { phone_column: 'Mobile' } });
  expect([answer.status, answer.body.detail[0]]).toEqual([
    422,
    { loc: ['body', 'source_options', 'phone_column'], msg: expect.stringContaining('"Phone", "First name"'), type: 'unknown_column' },
  ]);
});

const wrong: [object, string[]][] = [
  [{ name: undefined }, ['body', 'name']],
  [{ name: ' ' }, ['body', 'name']],
  [{ name: 'x'.repeat(201) }, ['body', 'name']],
  [{ workflow_id: '1' }, ['body', 'workflow_id']],
  [{ workflow_id: undefined }, ['body', 'workflow_id']],
  [{ source_type: 'fax' }, ['body', 'source_type']],
  [{ source_id: 7 }, ['body', 'source_id']],
  [{ max_concurrency: 0 }, ['body', 'max_concurrency']],
  [{ max_concurrency: 1001 }, ['body', 'max_concurrency']],
  [{ retry_config: { retry_delay_seconds: 604_801 } }, ['body', 'retry_config', 'retry_delay_seconds']],
  [{ circuit_breaker: { failure_threshold: 2 } }, ['body', 'circuit_breaker', 'failure_threshold']],
  [{ schedule_config: { enabled: true, timezone: 'Mars/Base', slots: [monday] } }, ['body', 'schedule_config', 'timezone']],
  [{ schedule_config: { enabled: true, slots: [] } }, ['body', 'schedule_config', 'slots']],
  [{ schedule_config: { slots: [monday] }, time_slots: [{ day: 'monday', start: '09:00', end: '10:00' }] }, ['body', 'time_slots']],
  [{ time_slots: [{ day: 'someday', start: '09:00', end: '10:00' }] }, ['body', 'time_slots', '0', 'day']],
  [{ source_options: { default_country: 'Germany' } }, ['body', 'source_options', 'default_country']],
];

test.each(wrong)('an invalid campaign is 422 and names the field: %j', async (part, loc) => {
  const { client, id } = await newOrganization();
  const body = { name: 'x', workflow_id: await newAgent(id), source_type: 'csv', source_id: await uploaded(client, csv), ...part };
  const answer = await client.post('/campaign/create', body);
  expect([answer.status, answer.body.detail?.[0]?.loc]).toEqual([422, loc]);
});

test('more calls at once than the plan allows are 400, and the limit is named', async () => {
  const { client, id } = await newOrganization();
  await env.DB.prepare('UPDATE organization SET plan_concurrent_calls = 4 WHERE id = ?').bind(id).run();
  const answer = await client.post('/campaign/create', {
    name: 'x',
    workflow_id: await newAgent(id),
    source_type: 'csv',
    source_id: await uploaded(client, csv),
    max_concurrency: 5,
  });
  expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining('concurrent_call_limit of 4')]);
  expect(await draft(client, id, csv)).toMatchObject({ max_concurrency: 4 });
});

test('campaigns are listed newest first, by state and by part of the name, and page by page', async () => {
  const { client, id } = await newOrganization();
  const first = await draft(client, id, csv, { name: 'Spring 100%' });
  const second = await draft(client, id, csv, { name: 'Autumn' });
  const third = await draft(client, id, csv, { name: 'spring again' });
  const ids = async (query: string) => (await client.get(`/campaign${query}`)).body.campaigns.map((one: { id: number }) => one.id);
  expect(await ids('')).toEqual([third.id, second.id, first.id]);
  expect(await ids('/?search=SPRING')).toEqual([third.id, first.id]);
  expect(await ids('?search=%25')).toEqual([first.id]);
  expect(await ids('?state=draft&search=autumn')).toEqual([second.id]);
  expect(await ids('?state=running')).toEqual([]);
  expect(await ids('?limit=1&offset=1')).toEqual([second.id]);
  const page = (await client.get('/campaign?limit=2')).body;
  expect([page.total, page.campaigns.length]).toEqual([3, 2]);
  const next = (await client.get(`/campaign?limit=2&cursor=${page.next_cursor}`)).body;
  expect([next.campaigns.map((one: { id: number }) => one.id), next.next_cursor]).toEqual([[first.id], null]);
});

test.each([
  ['?state=dialing', ['query', 'state']],
  ['?limit=0', ['query', 'limit']],
  ['?limit=501', ['query', 'limit']],
  ['?cursor=nonsense', ['query', 'cursor']],
])('a list that cannot be is 422: %s', async (query, loc) => {
  const { client } = await newOrganization();
  const answer = await client.get(`/campaign${query}`);
  expect([answer.status, answer.body.detail[0].loc]).toEqual([422, loc]);
});

test('a PATCH of a draft merges objects key by key, replaces slots, and gives null its default', async () => {
  const { client, id } = await newOrganization({ timezone: 'Asia/Kathmandu' });
  const created = await draft(client, id, csv, { retry_config: { max_retries: 5, retry_delay_seconds: 60 }, max_concurrency: 9 });
  const path = `/campaign/${created.id}`;
  const renamed = await client.patch(path, {
    name: 'Summer',
    retry_config: { max_retries: 1 },
    time_slots: [{ day: 'monday', start: '09:00', end: '17:00' }],
  });
  expect([renamed.status, renamed.body]).toEqual([
    200,
    {
      ...created,
      name: 'Summer',
      retry_config: { ...created.retry_config, max_retries: 1 },
      schedule_config: { enabled: true, timezone: 'Asia/Kathmandu', slots: [monday], use_contact_timezone: false },
    },
  ]);
  const reset = await client.patch(path, {
    retry_config: null,
    max_concurrency: null,
    schedule_config: { slots: [{ ...monday, day_of_week: 6 }] },
  });
  expect(reset.body).toMatchObject({
    retry_config: { max_retries: 2, retry_delay_seconds: 120 },
    max_concurrency: 100,
    schedule_config: { enabled: true, slots: [{ day_of_week: 6 }] },
  });
  expect((await client.get(path)).body).toEqual(reset.body);
  expect((await client.patch(path, {})).body).toEqual(reset.body);
});

test.each([
  [{ name: null }, ['body', 'name']],
  [{ max_concurrency: 0 }, ['body', 'max_concurrency']],
  [{ retry_config: { max_retries: 51 } }, ['body', 'retry_config', 'max_retries']],
  [{ retry_config: { colour: 'x'.repeat(17_000) } }, ['body', 'retry_config']],
  [{ schedule_config: {}, time_slots: [{ day: 'monday', start: '09:00', end: '17:00' }] }, ['body', 'time_slots']],
])('a PATCH that cannot be is 422, names the field and changes nothing: %j', async (body, loc) => {
  const { client, id } = await newOrganization();
  const created = await draft(client, id, csv);
  const answer = await client.patch(`/campaign/${created.id}`, body);
  expect([answer.status, answer.body.detail[0].loc]).toEqual([422, loc]);
  expect((await client.get(`/campaign/${created.id}`)).body).toEqual(created);
});

test('unknown keys of configs are kept through changes, warned of, and removed by null', async () => {
  const { client, id } = await newOrganization();
  const created = await draft(client, id, csv, {
    retry_config: { max_retry: 4, constructor: 'c' },
    time_slots: [{ day: 'monday', start: '9:00', end: '17:00:00', colour: 'red' }],
    circuit_breaker: { nested: { deep: [1, null] } },
    source_options: { column: 'phone', redial: { campaign_id: 1 } },
  });
  expect(created).toMatchObject({
    retry_config: { max_retries: 2, max_retry: 4, constructor: 'c' },
    schedule_config: { slots: [{ day_of_week: 0, start_time: '09:00', end_time: '17:00', colour: 'red' }] },
    circuit_breaker: { nested: { deep: [1, null] } },
    source_options: { column: 'phone' },
    redial_of: null,
  });
  const places = ({ warnings }: { warnings: { loc: string[] }[] }) => warnings.map(({ loc }) => loc.join('.'));
  expect(places(created)).toEqual([
    'body.retry_config.max_retry',
    'body.retry_config.constructor',
    'body.schedule_config.slots.0.colour',
    'body.circuit_breaker.nested',
    'body.source_options.column',
  ]);
  expect(created.warnings[0].msg).toBe('`max_retry` is not known and has no effect; did you mean `max_retries`?');
  const path = `/campaign/${created.id}`;
  const changed = (await client.patch(path, { retry_config: { max_retry: null, max_retries: 3 }, circuit_breaker: { enabled: false } }))
    .body;
  expect(changed).toMatchObject({ retry_config: { max_retries: 3, constructor: 'c' }, circuit_breaker: { nested: { deep: [1, null] } } });
  expect(changed.retry_config).not.toHaveProperty('max_retry');
  expect((await client.patch(path, { retry_config: null })).body.retry_config).not.toHaveProperty(['constructor']);
  expect((await client.get(path)).body.circuit_breaker).toEqual({ ...created.circuit_breaker, enabled: false });
});

test('of two PATCHes at once neither is lost', async () => {
  const { client, id } = await newOrganization();
  const { id: campaign } = await draft(client, id, csv);
  const answers = await Promise.all([
    client.patch(`/campaign/${campaign}`, { retry_config: { max_retries: 7 } }),
    client.patch(`/campaign/${campaign}`, { retry_config: { backoff_factor: 3 } }),
    client.patch(`/campaign/${campaign}`, { name: 'Renamed' }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await client.get(`/campaign/${campaign}`)).body).toMatchObject({
    name: 'Renamed',
    retry_config: { max_retries: 7, backoff_factor: 3 },
  });
});

test('nothing of a campaign is there for another organization, without credentials, or to be changed with a key that may only read', async () => {
  const { client, id } = await newOrganization();
  const created = await draft(client, id, csv);
  const other = await newOrganization();
  const calls = [
    ['get', ''],
    ['patch', ''],
    ['get', '/progress'],
    ['get', '/runs'],
    ['get', '/report'],
    ['post', '/start'],
    ['post', '/pause'],
    ['post', '/resume'],
    ['post', '/cancel'],
    ['post', '/redial'],
  ] as const;
  const anonymous = new Client(undefined);
  for (const [method, path] of calls) {
    for (const campaign of [created.id, 999_999_999]) {
      const answer = await other.client[method](`/campaign/${campaign}${path}`);
      expect([method, path, answer.status, answer.body]).toEqual([method, path, 404, { detail: 'Campaign not found' }]);
    }
    expect([path, (await anonymous[method](`/campaign/${created.id}${path}`)).status]).toEqual([path, 401]);
    expect([path, (await client[method](`/campaign/first${path}`)).status]).toEqual([path, 422]);
  }
  expect((await other.client.get('/campaign')).body.campaigns).toEqual([]);
  const reader = await newOrganization({ scopes: ['read'] });
  for (const path of ['/campaign/create', `/campaign/${created.id}/start`, `/campaign/${created.id}/redial`])
    expect([path, (await reader.client.post(path, {})).status]).toEqual([path, 403]);
  expect((await client.get(`/campaign/${created.id}`)).body).toEqual(created);
});

test('a file that was refused may be uploaded again under the same id', async () => {
  const { client, id } = await newOrganization();
  const ticket = (await client.post('/campaign/upload-url', { filename: 'a.csv' })).body;
  await put(ticket.upload_url, 'name\nAda\n');
  const body = { name: 'x', workflow_id: await newAgent(id), source_type: 'csv', source_id: ticket.source_id };
  expect((await client.post('/campaign/create', body)).status).toBe(422);
  await put(ticket.upload_url, csv);
  expect((await client.post('/campaign/create', body)).status).toBe(200);
});

test('a file whose encoding cannot be told is 422 with the candidates, and is read in the one that is named', async () => {
  const { client, id } = await newOrganization();
  const file = encodeText('phone,name\n+905321234567,Ayşe\n', 'windows-1254');
  const source = { source_type: 'csv', source_id: await uploaded(client, file) };
  const body = { name: 'x', workflow_id: await newAgent(id), ...source };
  for (const answer of [await client.post('/campaign/create', body), await client.post('/campaign/preview', source)]) {
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]).toMatchObject({ loc: ['body', 'source_options', 'encoding'], type: 'uncertain_encoding' });
    expect(answer.body.detail[0].msg).toMatch(/cannot be told for sure: it may be .*windows-1254/);
  }
  // "Günther Schön" in a code page of DOS, of which every encoding makes other letters.
  const dos = Uint8Array.from([
    ...new TextEncoder().encode('phone,name\n+4930901820,G'),
    0x81,
    110,
    116,
    104,
    101,
    114,
    32,
    83,
    99,
    104,
    0x94,
    110,
    10,
  ]);
  const dosSource = { source_type: 'csv', source_id: await uploaded(client, dos) };
  for (const answer of [
    await client.post('/campaign/create', { ...body, ...dosSource }),
    await client.post('/campaign/preview', dosSource),
  ])
    expect([answer.status, answer.body.detail?.[0]]).toMatchObject([422, { type: 'uncertain_encoding' }]);
  const named = { ...source, source_options: { encoding: 'iso-8859-9' } };
  expect((await client.post('/campaign/preview', named)).body.rows[0].variables).toEqual({ name: 'Ayşe' });
  expect((await client.post('/campaign/create', { ...body, ...named })).status).toBe(200);
  const misnamed = await client.post('/campaign/create', { ...body, source_options: { encoding: 'utf-8' } });
  expect([misnamed.status, misnamed.body.detail[0].msg]).toEqual([422, expect.stringContaining('The file is not in utf-8')]);
  const unknown = await client.post('/campaign/create', { ...body, source_options: { encoding: 'klingon' } });
  expect([unknown.status, unknown.body.detail[0].loc]).toEqual([422, ['body', 'source_options', 'encoding']]);
});
