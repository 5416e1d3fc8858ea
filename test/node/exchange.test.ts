import { createServer } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createBroker } from '../../src/providers/broker/composio.ts';
import { boundedFetch, createExchange, type ExchangeOptions } from '../../src/providers/http/exchange.ts';
import { sendGuardedRequest } from '../../src/providers/http/guarded-request.ts';
import { skipHostnameCheck } from '../../src/providers/http/hostname-check.ts';
import { systemRuntime, type Runtime } from '../../src/providers/http/runtime.ts';
import { createLanguageModel } from '../../src/providers/language-model/language-model.ts';
import { carriers } from '../../src/providers/telephony/registry.ts';
import type { TelephonyOptions } from '../../src/providers/telephony/telephony.ts';
import { answeringRuntime, failureOf, providerBefore, providerKeys } from './messaging-fakes.ts';

const mebibyte = 1024 * 1024;

/** An answer without an end; `sent` counts the bytes that were asked of it. */
function endlessAnswer(status = 200, type = 'application/json') {
  const counter = { sent: 0 };
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      counter.sent += mebibyte;
      controller.enqueue(new Uint8Array(mebibyte).fill(0x20));
    },
  });
  return { counter, response: new Response(stream, { status, headers: { 'content-type': type } }) };
}

const exchangeWith = (fetch: Runtime['fetch'], more: Partial<ExchangeOptions> = {}) =>
  createExchange({ name: 'The shop', timeoutMs: 1000, maxBodyBytes: 10, runtime: { fetch }, ...more });
const get = (url = 'https://one.example.com/in') => ({ method: 'GET', url, headers: {} });

describe('an answer has a bound', () => {
  test('beyond the bound it fails, without the rest being read', async () => {
    const { counter, response } = endlessAnswer();
    const answer = await exchangeWith(async () => response, { maxBodyBytes: 3 * mebibyte }).send(get());
    expect(answer).toMatchObject({ unreachable: 'too_large', message: 'The shop answered more than is read of an answer' });
    expect(counter.sent).toBeLessThanOrEqual(6 * mebibyte);
  });

  test('or is cut there, and says so', async () => {
    const exchange = exchangeWith(async () => new Response('0123456789abc'), { overflow: 'cut' });
    expect(await exchange.send(get())).toMatchObject({ text: '0123456789', isCut: true, body: undefined });
  });

  test('an answer as long as the bound is whole', async () => {
    const answer = await exchangeWith(async () => new Response('{"a":"bc"}')).send(get());
    expect(answer).toMatchObject({ isCut: false, body: { a: 'bc' } });
  });

  test('a stream that tells a longer length is not opened, and one that tells none breaks there', async () => {
    const withLength = exchangeWith(async () => new Response('0123456789abc', { headers: { 'content-length': '13' } }));
    expect(await withLength.openStream(get())).toMatchObject({ unreachable: 'too_large' });
    const untold = await exchangeWith(async () => endlessAnswer().response).openStream(get());
    if ('unreachable' in untold) throw new Error(untold.message);
    expect(untold).not.toHaveProperty('bytes');
    await expect(new Response(untold.stream).text()).rejects.toThrow(RangeError);
  });

  test('a client of a vendor follows no redirect, and its answers break at the bound', async () => {
    const fetched: RequestInit[] = [];
    const bounded = boundedFetch({ fetch: async (_, init) => (fetched.push(init!), endlessAnswer().response) }, mebibyte);
    await expect((await bounded('https://one.example.com/')).text()).rejects.toThrow(RangeError);
    expect(fetched).toMatchObject([{ redirect: 'manual' }]);
  });
});

describe('an answer without an end ends a request to', () => {
  const now = () => 1_700_000_000_000;

  test.each([
    ['twilio', (options: TelephonyOptions) => carriers.twilio.create({ account_sid: 'AC1', auth_token: 'secret' }, options)],
    ['telnyx', (options: TelephonyOptions) => carriers.telnyx.create({ api_key: 'secret', connection_id: '1', public_key: '' }, options)],
  ])('%s: whether the call was placed is not known', async (_, create) => {
    const { counter, response } = endlessAnswer();
    const telephony = create({ baseUrl: 'https://api.example.com', runtime: { fetch: async () => response, now } });
    const urls = { status: 'https://calls.example.com/status', answer: 'https://calls.example.com/answer' };
    const result = await telephony.place({ attemptKey: 'a', to: '+14155550123', from: '+15005550006', urls });
    expect(result).toEqual({ unknown: expect.stringContaining('more than is read of an answer') });
    expect(counter.sent).toBeLessThan(16 * mebibyte);
  });

  test.each(providerKeys)('%s: whether the message was sent is not known', async (key) => {
    const { counter, response } = endlessAnswer();
    const provider = providerBefore(
      key,
      answeringRuntime(() => response),
      { timeoutMs: 5000 },
    );
    const failure = failureOf(await provider.send({ to: '+14155550123', key: 'k', text: 'Hello' }));
    expect(failure).toMatchObject({ failure: 'provider_down', outcomeUnknown: true, retryable: false });
    expect(counter.sent).toBeLessThan(16 * mebibyte);
  });

  test('the connection broker', async () => {
    const { counter, response } = endlessAnswer();
    const settings = { COMPOSIO_API_KEY: 'secret', COMPOSIO_BASE_URL: 'https://broker.example.com', COMPOSIO_AUTH_CONFIGS: [] };
    const broker = createBroker(settings, { ...systemRuntime, fetch: async () => response });
    expect(await broker.request('ca_1', { method: 'GET', url: 'https://books.example.com/' })).toMatchObject({ failure: 'rejected' });
    expect(counter.sent).toBeLessThan(32 * mebibyte);
  });

  test('the language model, whose other tries are answered likewise', async () => {
    const counters: { sent: number }[] = [];
    const runtime = {
      ...systemRuntime,
      sleep: async () => {},
      fetch: async () => {
        const { counter, response } = endlessAnswer();
        counters.push(counter);
        return response;
      },
    };
    const settings = { OPENAI_API_KEY: 'secret', OPENAI_BASE_URL: 'https://model.example.com/v1', LANGUAGE_MODEL: 'm' };
    const answer = await createLanguageModel(settings, runtime).complete({ messages: [{ role: 'user', content: 'Hello' }] });
    expect(answer).toMatchObject({
      failure: 'provider_failed',
      message: 'The language model provider answered more than is read of an answer',
    });
    expect(counters).toHaveLength(3);
    for (const { sent } of counters) expect(sent).toBeLessThan(32 * mebibyte);
  });

  test('an address of a customer: the first mebibyte is kept', async () => {
    const { counter, response } = endlessAnswer(200, 'text/plain');
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(response);
    onTestFinished(() => vi.restoreAllMocks() && undefined);
    const request = { method: 'GET', url: 'https://one.example.com/', headers: {}, body: null, timeout_seconds: 5 };
    const answer = await sendGuardedRequest(request, { allowedOrigins: [], checkHostname: skipHostnameCheck });
    expect(answer).toMatchObject({ status: 200, is_cut: true });
    expect(counter.sent).toBeLessThan(8 * mebibyte);
  });
});

describe('a redirect', () => {
  const secrets = { authorization: 'Bearer canary', 'x-api-key': 'canary', 'x-shop': 'canary', apikey: 'canary', cookie: 'canary' };
  const headers = { accept: 'application/json', ...secrets };

  /** Answers the n-th request by a redirect to the n-th location, then with 200; keeps what it was asked. */
  function redirecting(...locations: string[]) {
    const asked: { url: string; init: RequestInit }[] = [];
    const fetch: Runtime['fetch'] = async (input, init) => {
      asked.push({ url: String(input), init: init! });
      const location = locations[asked.length - 1];
      return location === undefined ? new Response('ok') : new Response(null, { status: 307, headers: { location } });
    };
    return { asked, fetch, headersOf: () => asked.map(({ init }) => Object.keys(init.headers as object).toSorted()) };
  }

  test('is an answer unless it is to be followed', async () => {
    const { fetch, asked } = redirecting('https://two.example.com/');
    expect(await exchangeWith(fetch).send({ ...get(), headers })).toMatchObject({ status: 307 });
    expect(asked).toMatchObject([{ init: { redirect: 'manual' } }]);
  });

  test('to another origin drops credentials, custom credential headers among them, for good', async () => {
    const { fetch, headersOf } = redirecting('/same', 'https://two.example.com/', 'https://one.example.com/back');
    const answer = await exchangeWith(fetch, { maxRedirects: 3 }).send({ ...get(), headers });
    expect(answer).toMatchObject({ status: 200 });
    const all = Object.keys(headers).toSorted();
    expect(headersOf()).toEqual([all, all, ['accept'], ['accept']]);
  });

  test('to another origin drops them from a stream, too', async () => {
    const { fetch, headersOf } = redirecting('https://two.example.com/');
    await exchangeWith(fetch, { maxRedirects: 3 }).openStream({ ...get(), headers });
    expect(headersOf()[1]).toEqual(['accept']);
  });

  test('of a body to another origin is not followed', async () => {
    const { fetch, asked } = redirecting('https://two.example.com/in?key=canary');
    const answer = await exchangeWith(fetch, { maxRedirects: 3 }).send({ ...get(), method: 'POST', headers, body: 'canary' });
    expect(answer).toMatchObject({ unreachable: 'body_redirected' });
    expect(JSON.stringify(answer)).not.toContain('canary');
    expect(asked).toHaveLength(1);
  });

  test('is checked as the first address is, and the fourth is not followed', async () => {
    const blockedReason = (url: URL) => (url.hostname === 'two.example.com' ? 'it is private' : null);
    const blocked = redirecting('https://two.example.com/');
    const answer = await exchangeWith(blocked.fetch, { maxRedirects: 3, blockedReason }).send(get());
    expect([answer, blocked.asked.length]).toMatchObject([{ unreachable: 'blocked', message: 'it is private' }, 1]);
    const endless = redirecting('/1', '/2', '/3', '/4');
    const stopped = await exchangeWith(endless.fetch, { maxRedirects: 3 }).send(get());
    expect([stopped, endless.asked.length]).toMatchObject([{ unreachable: 'too_many_redirects' }, 4]);
  });

  test('of a recording takes no credentials of the carrier along', async () => {
    const { fetch, headersOf } = redirecting('https://store.example.net/recording.mp3');
    const options = { baseUrl: 'https://api.example.com', runtime: { fetch, now: Date.now } };
    const telephony = carriers.twilio.create({ account_sid: 'AC1', auth_token: 'canary' }, options);
    const result = await telephony.fetchRecording('https://api.example.com/2010-04-01/Accounts/AC1/Recordings/RE1');
    expect(result).toHaveProperty('recording');
    expect(headersOf()).toEqual([['authorization'], []]);
  });
});

describe('a request ends in time', () => {
  /** A server that answers `head` at once and never ends. */
  async function stalling(head: string): Promise<string> {
    const server = createServer((request, response) => {
      void readText(request).then(() => {
        if (head) response.write(head);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void (server.closeAllConnections(), server.close()));
    return `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
  }

  test.each(['', 'half'])('when the other side stops after %j', async (head) => {
    const answer = await createExchange({ name: 'The shop', timeoutMs: 100, maxBodyBytes: 100 }).send(get(await stalling(head)));
    expect(answer).toMatchObject({ unreachable: 'timeout', message: 'The shop gave no answer within 0.1 seconds' });
  });

  test('a stream has its time for the headers alone', async () => {
    const url = await stalling('half');
    const answer = await createExchange({ name: 'The shop', timeoutMs: 100, maxBodyBytes: 100 }).openStream(get(url));
    if ('unreachable' in answer) throw new Error(answer.message);
    await new Promise((resolve) => setTimeout(resolve, 150));
    const { value } = await answer.stream!.getReader().read();
    expect(new TextDecoder().decode(value)).toBe('half');
  });
});

test('an unreachable address is reported without address and credentials', async () => {
  const answer = await exchangeWith(() => Promise.reject(new TypeError('fetch failed'))).send(get('https://one.example.com/?key=canary'));
  expect(answer).toMatchObject({ unreachable: 'network', message: expect.not.stringContaining('example.com') });
});
