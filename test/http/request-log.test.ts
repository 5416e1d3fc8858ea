import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { redactPath } from '../../src/http/middleware/request-log.ts';
import { Client, newOrganization } from '../support/organization.ts';
import { recordedDatabase } from '../support/recorded-database.ts';
import { linesLoggedBy, newEmail, newMember, origin, serviceWith } from './service.ts';

const verbose = serviceWith({ LOG_LEVEL: 'debug' });

test('every request is one JSON object on one line, with its id and how it ended', async () => {
  const { key, id } = await newOrganization();
  const client = new Client(key, verbose);
  const answers: { headers: Headers; status: number }[] = [];
  const lines = await linesLoggedBy(async () => {
    answers.push(
      await client.get('/contacts?search=someone'),
      await client.get('/contacts/999999999'),
      await client.post('/contacts', '{"mal'),
    );
    answers.push(await new Client(undefined, verbose).get('/contacts'));
  });
  const entries = lines.map((line) => JSON.parse(line));
  expect(entries).toHaveLength(4);
  for (const [index, entry] of entries.entries()) {
    expect(lines[index]).not.toContain('\n');
    expect(entry).toMatchObject({
      at: expect.stringMatching(/Z$/),
      level: 'info',
      message: 'request',
      request_id: answers[index]!.headers.get('x-request-id'),
      status: answers[index]!.status,
      duration_ms: expect.any(Number),
    });
  }
  expect(entries[0]).toMatchObject({ method: 'GET', path: '/api/v1/contacts', organization_id: id });
  expect(entries[3]).not.toHaveProperty('organization_id');
});

test('no key, token, password, body or query is in any line, whatever goes wrong', async () => {
  const { key } = await newOrganization();
  const { token } = await newMember();
  const secret = 'hunter2-correct-horse';
  const email = newEmail();
  const broken = serviceWith({
    LOG_LEVEL: 'debug',
    DB: recordedDatabase(env.DB, { statements: [], calls: 0 }, async (sql) => {
      if (!/"(api_key|session)"/.test(sql.join())) throw new Error('D1_ERROR: SQLITE_FULL');
    }),
  });
  const dead = serviceWith({
    LOG_LEVEL: 'debug',
    DB: recordedDatabase(env.DB, { statements: [], calls: 0 }, async () => Promise.reject(new Error('D1_ERROR: SQLITE_FULL'))),
  });
  const secrets = new Set([key, token, secret, email]);
  const lines = await linesLoggedBy(async () => {
    for (const send of [verbose, broken, dead]) {
      const anyone = new Client(undefined, send);
      const keyed = new Client(key, send);
      const bearer = { Authorization: `Bearer ${token}` };
      const signedUp = await anyone.post('/auth/signup', { email, password: `word of ${secret}`, name: secret, organization_name: secret });
      if (signedUp.body.token) secrets.add(signedUp.body.token);
      const loggedIn = await anyone.post('/auth/login', { email, password: `word of ${secret}` }, { 'CF-Connecting-IP': '203.0.113.9' });
      if (loggedIn.body.token) secrets.add(loggedIn.body.token);
      await anyone.post('/auth/login', { email, password: `${secret}-wrong` });
      await anyone.post('/auth/login', `{"email":"${email}","password":"word of ${secret}"`);
      await anyone.get('/auth/me', { Cookie: `session=${token}` });
      await anyone.get('/contacts', { 'X-API-Key': `${key}x` });
      await anyone.get('/contacts', { Authorization: `Bearer ${key}` });
      await anyone.get('/auth/me', bearer);
      const minted = await anyone.post('/user/api-keys', { name: secret }, bearer);
      if (minted.body.api_key) secrets.add(minted.body.api_key);
      await keyed.post('/contacts', { email, first_name: secret, phone: secret });
      await keyed.post('/contacts', { email, first_name: secret }, { 'Idempotency-Key': secret });
      await keyed.post('/events', { event_type: 'x', data: { token: secret } });
      await keyed.patch('/organizations/current', { name: secret });
      await keyed.get(`/contacts?search=${secret}&cursor=${secret}`);
      await keyed.post('/contacts', secret);
      await send(
        new Request(`${origin}/api/v1/automation-workflows/webhook/${secret}`, {
          method: 'POST',
          body: secret,
          headers: { 'X-Signature': secret },
        }),
      );
    }
  });
  expect(lines.length).toBeGreaterThan(40);
  expect(lines.some((line) => line.includes('SQLITE_FULL'))).toBe(true);
  const { results } = await env.DB.prepare(
    'SELECT key_hash AS hash FROM api_key UNION SELECT token_hash FROM session UNION SELECT password_hash FROM user',
  ).all<{ hash: string }>();
  for (const { hash } of results) secrets.add(hash);
  secrets.delete('none');
  for (const line of lines) {
    expect(() => JSON.parse(line)).not.toThrow();
    for (const one of secrets) if (line.includes(one)) expect.unreachable(`a secret is in the log: ${line}`);
  }
});

test('a webhook path is logged without the part that is its secret', () => {
  expect(redactPath('/api/v1/automation-workflows/webhook/5f0c-secret')).toBe('/api/v1/automation-workflows/webhook/…');
  expect(redactPath('/api/v1/automation-workflows/webhook/5f0c-secret/more')).toBe('/api/v1/automation-workflows/webhook/…/more');
  expect(redactPath('/api/v1/automation-workflows/7/triggers')).toBe('/api/v1/automation-workflows/7/triggers');
});

test('the path of a call’s socket is logged without the token that opens it', () => {
  expect(redactPath('/api/v1/telephony/1/2/calls/3/relay/1795853803/0123456789abcdef')).toBe('/api/v1/telephony/1/2/calls/3/relay/****');
  expect(redactPath('/api/v1/telephony/1/2/calls/3/status')).toBe('/api/v1/telephony/1/2/calls/3/status');
});
