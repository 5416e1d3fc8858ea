// @module-tag soak
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { listFailedChecks } from '../../scripts/simtest/failed-checks.ts';
import { percent, toVerdict } from '../../scripts/simtest/verdict.ts';
import { temporaryDirectory } from './temporary-directory.ts';

interface Request {
  method: string;
  path: string;
  body: any;
  apiKey: string;
  idempotencyKey: string;
}

/** A load test of four sessions as a service tells it. */
const statistics = (change: object = {}) => ({
  load_test_group_id: 7,
  status: 'completed',
  total: 4,
  pending: 0,
  running: 0,
  completed: 4,
  failed: 0,
  stopped: 0,
  passed: 4,
  pass_rate: 1,
  duration_seconds: { p50: 1.5, p95: 2, p99: 2.25 },
  turn_latency_ms: { p50: 400, p95: 812.4, p99: 900 },
  achieved_concurrency_max: 2,
  achieved_concurrency_average: 1.97,
  errors: [],
  sessions: [21, 22, 23, 24].map((id) => ({ test_session_id: id, error: null })),
  ...change,
});

const check = (name: string, passed: boolean | null, required = true) => ({ name, passed, required, detail: '' });
const session = (id: number, ...checks: object[]) => ({ id, results: { checks } });

const requests: Request[] = [];
/** What the load test's statistics answer, one look after the other; the last one stays. */
let looks: object[];
let sessions: object[];
/** Answers instead of what follows, where it answers anything. */
let instead: (request: Request, response: ServerResponse) => unknown;

const answer = (response: ServerResponse, status: number, body: object) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

function answerAsService({ method, path }: Request, response: ServerResponse): unknown {
  if (path === '/simtest/load-tests') return answer(response, 200, { load_test_group_id: 7, total: 4, status: 'running' });
  if (path === '/simtest/load-tests/7/stats') return answer(response, 200, looks.length > 1 ? looks.shift()! : looks[0]!);
  if (path === '/simtest/load-tests/7/stop') {
    looks = [statistics({ status: 'stopped', completed: 1, passed: 1, stopped: 3 })];
    return answer(response, 200, looks[0]!);
  }
  const page = /^\/simtest\/test-sessions\?load_test_group_id=7&status=completed&limit=(\d+)&offset=(\d+)$/.exec(path);
  if (method !== 'GET' || !page) return answer(response, 404, { detail: 'no such path' });
  const [limit, offset] = [Number(page[1]), Number(page[2])];
  return answer(response, 200, { test_sessions: sessions.slice(offset, offset + limit), total: sessions.length });
}

const server = createServer((incoming: IncomingMessage, response) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => {
    const text = Buffer.concat(chunks).toString();
    const request = {
      method: incoming.method!,
      path: incoming.url!.replace(/^\/api\/v1/, ''),
      body: text === '' ? null : JSON.parse(text),
      apiKey: String(incoming.headers['x-api-key']),
      idempotencyKey: String(incoming.headers['idempotency-key']),
    };
    requests.push(request);
    if (instead(request, response) === undefined) answerAsService(request, response);
  });
});
let baseUrl = '';
let directory: string;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
});
afterAll(() => server.close());
beforeEach(() => {
  directory = temporaryDirectory();
  requests.length = 0;
  looks = [statistics()];
  sessions = [21, 22, 23, 24].map((id) => session(id, check('says goodbye', true)));
  instead = () => undefined;
});

function start(parameters: string[], environment: Record<string, string> = { BASE_URL: baseUrl, API_KEY: 'key' }) {
  const child: ChildProcess = spawn(process.execPath, ['scripts/simtest.ts', ...parameters], {
    cwd: join(import.meta.dirname, '../..'),
    env: { ...process.env, BASE_URL: '', API_KEY: '', STATE_DIR: directory, ...environment },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout!.on('data', (chunk) => (stdout += chunk));
  child.stderr!.on('data', (chunk) => (stderr += chunk));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return { child, ended };
}
const run = (parameters: string[], environment?: Record<string, string>) => start(parameters, environment).ended;

const both = ['--agent', '1', '--adversary', '2'];
const asked = (method: string, path: string) => requests.filter((request) => request.method === method && request.path === path);

function write(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

describe('what is asked for', () => {
  test('every option goes into the load test', async () => {
    const config = { max_turns: 6, checks: [{ name: 'says goodbye', type: 'contains', value: 'goodbye' }] };
    const file = write('config.json', JSON.stringify(config));
    const options = ['--count', '4', '--concurrency', '2', '--ramp', '3', '--name', 'Nightly', '--config', file];
    const { code, stdout, stderr } = await run([...both, ...options]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(asked('POST', '/simtest/load-tests')).toEqual([
      expect.objectContaining({
        apiKey: 'key',
        body: {
          name: 'Nightly',
          actor_workflow_id: 1,
          adversary_workflow_id: 2,
          test_count: 4,
          concurrency: 2,
          ramp_seconds: 3,
          config,
        },
      }),
    ]);
    expect(stdout).toContain('Load test 7 "Nightly": 4 sessions of agent 1 with adversary 2, 2 at a time.');
    expect(stdout).toContain(`${baseUrl}/simtest/load-tests/7/stats`);
  });

  test('a lost answer to the creation makes no second load test', async () => {
    instead = ({ path }, response) => (path === '/simtest/load-tests' && requests.length === 1 ? response.destroy() : undefined);
    expect((await run(both)).code).toBe(0);
    const created = asked('POST', '/simtest/load-tests');
    expect(created).toHaveLength(2);
    expect(created[0]!.idempotencyKey).toBe(created[1]!.idempotencyKey);
  });

  test('the local service is the default', async () => {
    const state = join(directory, 'state');
    mkdirSync(state);
    writeFileSync(join(state, 'credentials.json'), JSON.stringify({ base_url: baseUrl, api_key: 'local', simulators_url: '' }));
    expect((await run(both, { STATE_DIR: state })).code).toBe(0);
    expect(requests[0]!.apiKey).toBe('local');
  });
});

describe('the printed report', () => {
  test('it is followed to the end of its last session, and its outcome stands in a table', async () => {
    looks = [
      statistics({ status: 'running', completed: 1, passed: 1, running: 2, pending: 1 }),
      statistics({ status: 'running', completed: 3, passed: 2, running: 1 }),
      statistics({ completed: 3, passed: 2, failed: 1, pass_rate: 2 / 3 }),
    ];
    const { stdout } = await run([...both, '--min-pass-rate', '0.5']);
    expect(asked('GET', '/simtest/load-tests/7/stats')).toHaveLength(3);
    expect(stdout).toContain('1 of 4 ended, 2 running: 1 passed, 0 failed, 0 errors');
    expect(stdout).toMatch(/passed +2\n +failed +1\n +error +1\n +stopped +0\n +pass rate +66\.66 %/);
    expect(stdout).toMatch(/p50 +p95 +p99\n +duration +1\.5 s +2 s +2\.25 s\n +turn latency +400 ms +812 ms +900 ms/);
    expect(stdout).toContain('concurrency: 1.97 on average and 2 at the most, of 10');
  });

  test('checks that did not hold are listed by name, with a session to look at, from any page', async () => {
    sessions = Array.from({ length: 250 }, (_, index) =>
      session(1000 - index, check('says goodbye', index !== 240), check('is polite', null), check('is short', index > 2, false)),
    );
    const { stdout } = await run([...both, '--min-pass-rate', '0']);
    expect(stdout).toMatch(/is short \(advisory\) +3 +0 +998\n +says goodbye +1 +0 +760\n +is polite +0 +250 +751\n/);
    expect(stdout).toContain('/simtest/test-sessions/{id}/conversation');
  });

  test('errors are listed with a session to look at', async () => {
    const error = 'The language model of the actor failed: no credit';
    const failedSessions = [21, 22, 23, 24].map((id) => ({ test_session_id: id, error: id === 23 ? error : null }));
    looks = [statistics({ completed: 3, passed: 3, failed: 1, errors: [{ error, count: 1 }], sessions: failedSessions })];
    expect((await run(both)).stdout).toContain(`1 times, such as session 23: ${error}`);
  });
});

describe('the exit code', () => {
  test('is 1 when fewer passed than are to', async () => {
    looks = [statistics({ passed: 3, pass_rate: 0.75 })];
    const { code, stderr } = await run([...both, '--min-pass-rate', '0.8']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'Too few passed: 75 % instead of 80 %.\n' });
  });

  test('is 0 when just as many passed', async () => {
    looks = [statistics({ passed: 3, pass_rate: 0.75 })];
    expect((await run([...both, '--min-pass-rate', '0.75'])).code).toBe(0);
  });

  test('is 1 when nothing could be judged, whatever share is to pass', async () => {
    looks = [statistics({ completed: 0, passed: 0, failed: 4, pass_rate: null })];
    sessions = [];
    const { code, stderr } = await run([...both, '--min-pass-rate', '0']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'No session could be judged.\n' });
  });

  test('is 1 when somebody stopped it, although all passed before', async () => {
    looks = [statistics({ status: 'stopped', completed: 3, passed: 3, stopped: 1 })];
    const { code, stderr } = await run(both);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'The load test was stopped, so it proves nothing.\n' });
  });

  test.each([
    ['no agent', ['--adversary', '2'], 'Give --agent.'],
    ['no adversary', ['--agent', '1'], 'Give --adversary.'],
    ['an agent that is no id', ['--agent', 'sales', '--adversary', '2'], '--agent is "sales"; give a whole number from 1.'],
    ['too many sessions', [...both, '--count', '1001'], '--count is "1001"; give a whole number from 1 to 1000.'],
    ['half a session at a time', [...both, '--concurrency', '0.5'], '--concurrency is "0.5"; give a whole number from 1 to 100.'],
    ['a ramp into the past', [...both, '--ramp=-1'], '--ramp is "-1"; give a whole number from 0 to 3600.'],
    ['a pass rate in percent', [...both, '--min-pass-rate', '90'], '--min-pass-rate is "90"; give a number from 0 to 1, such as 0.9.'],
    ['a pass rate that is empty', [...both, '--min-pass-rate', ''], '--min-pass-rate is ""'],
    ['an unknown option', [...both, '--cuont', '4'], "Unknown option '--cuont'"],
    ['a base URL that is none', [...both, '--base-url', 'localhost'], 'The base URL is "localhost"'],
    ['no such file', [...both, '--config', '/nowhere/config.json'], '/nowhere/config.json cannot be read'],
  ])('is 2 for %s', async (_, parameters, message) => {
    const { code, stderr } = await run(parameters);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(stderr).not.toContain('    at ');
    expect(requests).toHaveLength(0);
  });

  test.each([
    ['no JSON', '{"max_turns": 6,}', 'is no JSON'],
    ['a list of checks alone', '[{"name": "polite"}]', 'holds no JSON object'],
  ])('is 2 for a config that is %s', async (_, content, message) => {
    const { code, stderr } = await run([...both, '--config', write('config.json', content)]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });

  test('is 2 for what the service does not take, at once and with its reason', async () => {
    const issue = { loc: ['body', 'config', 'max_turns'], msg: 'Too big', type: 'too_big' };
    instead = (_, response) => answer(response, 422, { detail: [issue] });
    const { code, stderr } = await run(both);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'POST /simtest/load-tests: the service answered 422: body.config.max_turns: Too big\n',
    });
    expect(requests).toHaveLength(1);
  });

  test('is 2 for an archived agent, which no second try brings back', async () => {
    instead = (_, response) => answer(response, 409, { detail: 'The agent is archived' });
    expect((await run(both)).code).toBe(2);
    expect(requests).toHaveLength(1);
  });

  test('is 2 without a service to work with', async () => {
    const { code, stderr } = await run(both, { STATE_DIR: join(directory, 'none') });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('Run "npm start" first') });
  });
});

describe('Ctrl-C', () => {
  const isRunning = () => statistics({ status: 'running', completed: 1, passed: 1, running: 2, pending: 1 });
  const hasLooked = () => expect.poll(() => asked('GET', '/simtest/load-tests/7/stats').length, { timeout: 10_000 }).toBeGreaterThan(0);

  test('stops the load test, and tells what has come of it', async () => {
    looks = [isRunning()];
    const { child, ended } = start(both);
    await hasLooked();
    // A terminal's and the one that npm passes on.
    child.kill('SIGINT');
    child.kill('SIGINT');
    const { code, stdout, stderr } = await ended;
    expect(asked('POST', '/simtest/load-tests/7/stop')).toHaveLength(1);
    expect(stdout).toMatch(/passed +1\n +failed +0\n +error +0\n +stopped +3\n/);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'The load test was stopped, so it proves nothing.\n' });
  });

  test('that comes too late leaves the outcome as it is', async () => {
    looks = [isRunning()];
    instead = ({ path }, response) => {
      if (!path.endsWith('/stop')) return undefined;
      looks = [statistics()];
      return answer(response, 409, { detail: 'The load test is completed; only a running one can be stopped' });
    };
    const { child, ended } = start(both);
    await hasLooked();
    child.kill('SIGINT');
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(stdout).toContain('The load test is completed; only a running one can be stopped');
  });
});

describe('the verdict', () => {
  const rate = (pass_rate: number) => ({ status: 'completed', pass_rate }) as Parameters<typeof toVerdict>[0];

  test('never shows a share that is too small as one that is enough', () => {
    expect(toVerdict(rate(0.89999), 0.9)).toEqual({ isGood: false, why: 'Too few passed: 89.99 % instead of 90 %.' });
    expect(percent(0.29)).toBe('29 %');
    expect(percent(2 / 3)).toBe('66.66 %');
    expect(percent(1)).toBe('100 %');
  });

  test('counts checks of sessions without results for nothing', () => {
    expect(listFailedChecks([{ id: 1, results: null }])).toEqual([]);
  });
});
