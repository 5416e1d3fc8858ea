import { afterEach, expect, test, vi } from 'vitest';
import { sendOutside } from '../../src/providers/http/send.ts';

afterEach(() => vi.restoreAllMocks());

const headers = {
  accept: 'application/json',
  'content-type': 'application/json',
  authorization: 'Bearer canary',
  'x-shop': 'canary',
  'x-anything-at-all': 'canary',
  'webhook-signature': 'v1,canary',
};

async function redirected(...locations: string[]): Promise<Request[]> {
  const asked: Request[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    asked.push(new Request(input as RequestInfo, init as RequestInit));
    const location = locations[asked.length - 1];
    return location === undefined ? Response.json({ ok: true }) : new Response(null, { status: 307, headers: { location } });
  });
  const answer = await sendOutside({ method: 'POST', url: 'https://one.example.com/in', headers, body: '{}', timeout_seconds: 5 }, []);
  expect(answer).toMatchObject({ status: 200 });
  return asked;
}

const names = ({ headers: sent }: Request) => [...sent.keys()].toSorted();

test('a redirect within the origin takes all headers along', async () => {
  const asked = await redirected('/other');
  expect(names(asked[1]!)).toEqual(Object.keys(headers).toSorted());
});

test.each([
  ['host', 'https://two.example.com/'],
  ['scheme', 'http://one.example.com/'],
  ['port', 'https://one.example.com:8443/'],
])('a redirect to another %s takes plain headers alone, and one back does not bring the others again', async (_what, away) => {
  const asked = await redirected(away, 'https://one.example.com/back');
  expect(asked).toHaveLength(3);
  for (const request of asked.slice(1)) expect(names(request)).toEqual(['accept', 'content-type']);
});
