import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { millisecondsToNextMinute, tickEachMinute } from '../../scripts/local/minute-tick.ts';

test('the next tick falls into the next minute, at its start', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (now) => {
      const next = now + millisecondsToNextMinute(now);
      return Math.floor(next / 60_000) === Math.floor(now / 60_000) + 1 && next % 60_000 < 1_000;
    }),
  );
});

test('the first tick comes at once, a failed one is reported, and aborting ends the ticking', async () => {
  const ending = new AbortController();
  const asked: string[] = [];
  const send = (async (url: string) => {
    asked.push(url);
    setTimeout(() => ending.abort(), 20);
    return new Response('no such route', { status: 404 });
  }) as typeof fetch;
  const reported: string[] = [];
  await tickEachMinute('http://127.0.0.1:9001', ending.signal, (problem) => reported.push(problem), send);
  expect(asked).toEqual(['http://127.0.0.1:9001/cdn-cgi/local/scheduled?cron=*+*+*+*+*']);
  expect(reported).toEqual(['The minute tick failed: 404 no such route']);
});
