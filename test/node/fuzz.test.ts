import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readFuzzSettings } from '../../scripts/fuzz/arguments.ts';
import { runFuzz, type FuzzOutcome } from '../../scripts/fuzz/run-fuzz.ts';
import { buildRequest } from '../../scripts/fuzz/build-request.ts';
import { createRandomSource } from '../../scripts/fuzz/random-source.ts';
import { findFaults, type JudgedRequest } from '../../scripts/fuzz/find-faults.ts';
import { SharedExclusiveLimiter } from '../../scripts/fuzz/shared-exclusive-limiter.ts';
import { findOperation, operations } from '../../scripts/fuzz/operations.ts';
import { formatSummary } from '../../scripts/fuzz/report.ts';
import { RawJson, toJsonText } from '../../scripts/fuzz/hostile-values.ts';
import { send } from '../../scripts/fuzz/send-request.ts';
import type { FuzzTarget } from '../../scripts/fuzz/fuzz-target.ts';

const world = (name: string): FuzzTarget => ({
  key: `vaa_${name}`,
  token: `vas_${name}`,
  known: { contact_id: 7 },
  secrets: [`vaa_${name}`, `vas_${name}`],
});
const scene = { world: world('ours'), stranger: world('theirs') };

describe('the requests of a seed', () => {
  const drawn = (seed: number) => Array.from({ length: 400 }, (_, index) => buildRequest(createRandomSource(seed, index), scene));

  test('are the same again, each by its number alone, and others than those of another seed', () => {
    const first = drawn(5);
    expect(drawn(5)).toEqual(first);
    expect(buildRequest(createRandomSource(5, 123), scene)).toEqual(first[123]);
    expect(drawn(6)).not.toEqual(first);
  });

  test('reach every operation, by its method, with bodies of many kinds', () => {
    const all = Array.from({ length: 4000 }, (_, index) => buildRequest(createRandomSource(1, index), scene));
    expect(new Set(all.flatMap(({ question }) => question.operation?.id ?? [])).size).toBe(operations.length);
    const bodies = new Set(all.map(({ wire }) => wire.body?.toString()));
    expect(bodies.size).toBeGreaterThan(800);
    expect([...bodies].some((body) => body?.includes('\\ud800'))).toBe(true);
    expect([...bodies].some((body) => body?.includes('1e400'))).toBe(true);
  });

  test('plant a secret where a body has a place for one, and ask for it in the answer', () => {
    const planted = Array.from({ length: 2000 }, (_, index) => buildRequest(createRandomSource(2, index), scene)).filter(({ question }) =>
      question.secrets.some((secret) => secret.startsWith('planted')),
    );
    expect(planted.length).toBeGreaterThan(20);
    expect(planted.some(({ wire, question }) => wire.body!.includes(question.secrets.at(-1)!))).toBe(true);
  });
});

test('JSON text holds what JavaScript has no value for, where it was put', () => {
  expect(toJsonText({ a: new RawJson('1e400'), b: ['"', new RawJson('{"a":1,"a":2}')], c: '\ud800' })).toBe(
    '{"a":1e400,"b":["\\"",{"a":1,"a":2}],"c":"\\ud800"}',
  );
});

describe('an answer', () => {
  const question: JudgedRequest = { operation: findOperation('contacts.list'), method: 'GET', isWellFormed: true, secrets: ['canary'] };
  const json = { 'content-type': 'application/json', 'x-request-id': 'a' };
  const answer = (status: number, body: string, headers: Record<string, string> = json) => ({ status, body, headers, durationMs: 1 });

  test.each([
    ['a good one', answer(200, '{}')],
    ['an error with its reason', answer(422, '{"detail":[{"loc":[],"msg":"a","type":"b"}]}')],
    ['a fault of a provider', answer(502, '{"detail":"busy"}')],
    ['a moment of trouble that says when to come again', answer(503, '{"detail":"busy"}', { ...json, 'retry-after': '5' })],
    ['one of the runtime to an address too long', answer(414, 'URI too long', { 'content-type': 'text/plain' })],
    ['one of the protocol of /mcp', answer(405, '{"jsonrpc":"2.0","error":{"code":1,"message":"No"},"id":null}')],
  ])('is sound: %s', (_, result) => expect(findFaults(question, result)).toEqual([]));

  test.each([
    ['an error of the service', answer(500, '{"detail":"Internal error"}'), 'status 500'],
    ['trouble without end', answer(503, '{"detail":"busy"}'), 'status 503'],
    ['a page', answer(404, '<html>', { ...json, 'content-type': 'text/html' }), 'content type "text/html" with status 404'],
    ['a page that goes by JSON', answer(404, '<html>'), 'what says to be JSON and is none, of status 404'],
    ['an error without its reason', answer(400, '{}'), 'an error without detail, of status 400'],
    [
      'one that the log cannot tell',
      answer(200, '{}', { 'content-type': 'application/json' }),
      'no X-Request-Id in an answer of status 200',
    ],
    ['a secret in its body', answer(200, '{"a":"xcanaryx"}'), 'the answer holds a secret, cana...'],
    ['a secret in a header', answer(200, '{}', { ...json, location: '/?a=canary' }), 'the answer holds a secret, cana...'],
    ['none', { silence: 'reset', durationMs: 1 }, 'no answer: reset'],
  ])('is a finding: %s', (_, result, fault) => expect(findFaults(question, result)).toEqual([fault]));

  test('to what is no sound HTTP may be missing, or of whoever stands before the service', () => {
    const broken = { ...question, isWellFormed: false };
    expect(findFaults(broken, { silence: 'reset', durationMs: 1 })).toEqual([]);
    expect(findFaults(broken, answer(500, 'Network connection lost', {}))).toEqual([]);
    expect(findFaults(broken, answer(500, '{"detail":"Internal error"}'))).toEqual(['status 500']);
  });

  test('that is no JSON is sound where the document says so, and nowhere else', () => {
    const csv = answer(200, 'a,b', { ...json, 'content-type': 'text/csv' });
    expect(findFaults({ ...question, operation: findOperation('campaigns.getReport') }, csv)).toEqual([]);
    expect(findFaults(question, csv)).toHaveLength(1);
  });
});

type Misbehaviour = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Attacks a service that lets everybody in, and gives the answers that a test sets. */
async function attacked(misbehave: Misbehaviour, requests = 60): Promise<FuzzOutcome> {
  let keys = 1000;
  const server = createServer((request, response) => {
    request.resume();
    request.on('error', () => undefined);
    response.setHeader('x-request-id', 'a').setHeader('content-type', 'application/json');
    if (request.url!.includes('signup')) response.end(`{"token":"vas_${keys++}","user":{"id":1},"organization":{"id":1}}`);
    else if (request.method === 'POST' && request.url === '/api/v1/user/api-keys') response.end(`{"id":1,"api_key":"vaa_${keys++}"}`);
    else if (request.url === '/api/v1/health' || !misbehave(request, response)) response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const origin = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return runFuzz({ origin, requests, seed: 3, lanes: 2, onProgress: () => {}, onFinding: () => {} });
}

describe('an attack', () => {
  test('on a service that takes everything finds nothing, and counts', async () => {
    const outcome = await attacked(() => false);
    expect(outcome).toMatchObject({ requests: 60, findings: [], slowOnce: 0 });
    expect(Object.values(outcome.statuses).reduce((sum, count) => sum + count, 0)).toBe(60);
    expect(formatSummary(outcome, 3, 1).at(-1)).toBe('60 requests of seed 3 in 1 s, 0 findings');
  });

  test.each<[string, string, Misbehaviour]>([
    ['errors', 'status 500', (_request, response) => Boolean(response.writeHead(500).end('{"detail":"x"}'))],
    ['a page', 'content type "text/html"', (_request, response) => Boolean(response.setHeader('content-type', 'text/html').end('<html>'))],
    [
      'keys',
      'holds a secret',
      (request, response) => Boolean(response.end(JSON.stringify({ key: request.headers['x-api-key'] ?? 'none' }))),
    ],
    ['nothing', 'no answer', (request) => Boolean(request.socket.destroy())],
  ])('on a service that answers with %s finds it, with the number by which it comes again', async (_, fault, misbehave) => {
    let isUp = false;
    const outcome = await attacked((request, response) => {
      // The records are made soundly.
      isUp ||= request.method === 'GET';
      return isUp && misbehave(request, response);
    });
    const finding = outcome.findings.find((one) => one.fault.includes(fault));
    expect(finding).toBeDefined();
    expect(finding!.number).toBeLessThan(60);
    expect(JSON.stringify(outcome.findings)).not.toMatch(/X-API-Key: v/);
  });

  test('on one that is slow asks again alone, and tells the slow from the hindered', { tags: 'soak', timeout: 60_000 }, async () => {
    let slow: string | undefined;
    const isSlow = ({ method, url }: IncomingMessage) => method === 'GET' && (slow ??= url) === url;
    const answerLate: Misbehaviour = (request, response) => isSlow(request) && Boolean(setTimeout(() => response.end('{}'), 2100));
    expect((await attacked(answerLate)).findings.map(({ fault }) => fault)).toContainEqual(
      expect.stringMatching(/^\d+ ms, and alone \d+ ms$/),
    );
    let times = 0;
    slow = undefined;
    const hindered = await attacked((request, response) => isSlow(request) && times++ === 0 && answerLate(request, response));
    expect(hindered).toMatchObject({ findings: [], slowOnce: 1 });
    expect(hindered.slowest.ms).toBeGreaterThan(2000);
  });
});

test('a request goes out as it is written: two headers of one name, a raw path, a length that is not the truth', async () => {
  const heads: { url: string; rawHeaders: string[] }[] = [];
  const server = createServer(({ url, rawHeaders }, response) => {
    heads.push({ url: url!, rawHeaders });
    response.writeHead(200, { 'transfer-encoding': 'chunked' });
    response.write('{"a":');
    response.end('"é"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const origin = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const result = await send(origin, {
    method: 'POST',
    target: '/a/../%zz',
    headers: [
      ['X-A', '1'],
      ['X-A', '2'],
    ],
    body: Buffer.from('ab'),
    toldLength: 9,
  });
  expect(result).toMatchObject({ status: 200, body: '{"a":"é"}' });
  expect(heads).toEqual([
    { url: '/a/../%zz', rawHeaders: ['Host', origin.host, 'Connection', 'close', 'X-A', '1', 'X-A', '2', 'Content-Length', '9'] },
  ]);
});

test('what only says that it goes on is no answer', async () => {
  const server = createServer();
  server.on('checkContinue', (_request, response) => {
    response.writeContinue();
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const origin = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const result = await send(origin, { method: 'POST', target: '/', headers: [['Expect', '100-continue']], body: Buffer.from('{}') });
  expect(result).toMatchObject({ status: 200, body: '{}' });
});

test('what asks to be alone waits for what runs, and holds up what comes', async () => {
  const lanes = new SharedExclusiveLimiter(2);
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const running = lanes.runShared(async () => {
    await first.promise;
    order.push('first');
  });
  const alone = lanes.runExclusive(async () => void order.push('alone'));
  const after = lanes.runShared(async () => void order.push('after'));
  first.resolve();
  await Promise.all([running, alone, after]);
  expect(order).toEqual(['first', 'alone', 'after']);
});

describe('the call', () => {
  test('has by default a random seed, 20,000 requests and a service of its own', () => {
    const { seed, ...rest } = readFuzzSettings([]);
    expect(seed).toBeGreaterThanOrEqual(0);
    expect(rest).toEqual({ requests: 20_000, lanes: 4 });
    expect(readFuzzSettings(['--requests', '5', '--seed', '7', '--only', '3', '--url', 'http://127.0.0.1:1', '--api-key', 'k'])).toEqual({
      requests: 5,
      seed: 7,
      only: 3,
      lanes: 4,
      url: new URL('http://127.0.0.1:1'),
      key: 'k',
    });
  });

  test.each([
    ['--requests', '0', 'whole number from 1'],
    ['--seed', 'x', 'whole number'],
    ['--url', 'localhost', 'give an address such as'],
    ['--api-key', 'k', 'belongs to --url'],
    ['--nonsense', '1', 'Usage'],
  ])('is refused with what is wrong: %s %s', (option, value, reason) => expect(() => readFuzzSettings([option, value])).toThrow(reason));
});
