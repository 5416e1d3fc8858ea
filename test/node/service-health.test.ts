import { expect, test } from 'vitest';
import { waitUntilHealthy } from '../../scripts/local/service-health.ts';

/** A service that gives these answers one after the other, the last one for ever. */
function serviceAnswering(...answers: (() => Response)[]) {
  const asked: string[] = [];
  const send = (async (url: string) => {
    asked.push(url);
    return answers[Math.min(asked.length, answers.length) - 1]!();
  }) as typeof fetch;
  return { asked, send };
}

const refused = () => {
  throw new TypeError('fetch failed');
};

test('a service is waited for while it refuses connections or answers badly, until it answers 200', async () => {
  const { asked, send } = serviceAnswering(
    refused,
    () => new Response('starting', { status: 503 }),
    () => Response.json({ status: 'ok' }),
  );
  await waitUntilHealthy('http://127.0.0.1:9001/api/v1', new AbortController().signal, send);
  expect(asked).toEqual(Array.from({ length: 3 }, () => 'http://127.0.0.1:9001/api/v1/health'));
});

test('the waiting ends when it is aborted', async () => {
  const ending = new AbortController();
  const { send } = serviceAnswering(refused);
  const waiting = waitUntilHealthy('http://127.0.0.1:9001/api/v1', ending.signal, send);
  ending.abort(new Error('Ctrl-C'));
  await expect(waiting).rejects.toThrow();
});
