import { afterEach, describe, expect, test, vi } from 'vitest';
import { blockedUrlReason } from '../../src/providers/http/ssrf-guard.ts';
import { urlPolicy } from '../../src/providers/http/url-policy.ts';
import { sendGuardedRequest } from '../../src/providers/http/guarded-request.ts';
import { stubFetch } from '../support/stub-fetch.ts';

afterEach(() => vi.restoreAllMocks());

const headers = {
  accept: 'application/json',
  'content-type': 'application/json',
  authorization: 'Bearer canary',
  'x-shop': 'canary',
  'x-anything-at-all': 'canary',
  'webhook-signature': 'v1,canary',
};
const local = urlPolicy({ ALLOWED_PRIVATE_ORIGINS: [], DEPLOYMENT_MODE: 'local' });

interface Redirects {
  status?: number;
  method?: string;
  body?: string | null;
}

async function redirected(locations: string[], { status = 307, method = 'GET', body = null }: Redirects = {}) {
  const asked: Request[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    asked.push(new Request(input as RequestInfo, init as RequestInit));
    const location = locations[asked.length - 1];
    return location === undefined ? Response.json({ ok: true }) : new Response(null, { status, headers: { location } });
  });
  const answer = await sendGuardedRequest({ method, url: 'https://one.example.com/in', headers, body, timeout_seconds: 5 }, local);
  return { asked, answer };
}

const names = ({ headers: sent }: Request) => [...sent.keys()].toSorted();

test('a redirect within the origin takes all headers along, and the body', async () => {
  const { asked, answer } = await redirected(['/other'], { method: 'POST', body: '{"a":1}' });
  expect(answer).toMatchObject({ status: 200 });
  expect(names(asked[1]!)).toEqual(Object.keys(headers).toSorted());
  expect([asked[1]!.method, await asked[1]!.text()]).toEqual(['POST', '{"a":1}']);
});

const elsewhere = [
  ['host', 'https://two.example.com/'],
  ['scheme', 'http://one.example.com/'],
  ['port', 'https://one.example.com:8443/'],
] as const;

test.each(elsewhere)(
  'a redirect to another %s takes plain headers alone, and one back does not bring the others again',
  async (_, away) => {
    const { asked, answer } = await redirected([away, 'https://one.example.com/back']);
    expect(answer).toMatchObject({ status: 200 });
    expect(asked).toHaveLength(3);
    for (const request of asked.slice(1)) expect(names(request)).toEqual(['accept', 'content-type']);
  },
);

test.each([
  [307, 'POST'],
  [308, 'POST'],
  [308, 'PATCH'],
  [302, 'PUT'],
  [301, 'DELETE'],
])('a %i of a %s with a body to another origin is not followed, and the reason names the origin alone', async (status, method) => {
  for (const [, away] of elsewhere) {
    const { asked, answer } = await redirected([`${away}in?key=canary`], { status, method, body: '{"secret":"canary"}' });
    expect(asked).toHaveLength(1);
    expect(answer).toMatchObject({ failure: 'refused', message: expect.stringContaining(new URL(away).origin) });
    expect(JSON.stringify(answer)).not.toContain('canary');
  }
});

test.each([301, 302, 303])('a %i of a POST to another origin becomes a GET without the body', async (status) => {
  const { asked, answer } = await redirected(['https://two.example.com/'], { status, method: 'POST', body: '{"secret":"canary"}' });
  expect(answer).toMatchObject({ status: 200 });
  expect([asked[1]!.method, asked[1]!.body]).toEqual(['GET', null]);
  expect(JSON.stringify([...asked[1]!.headers])).not.toContain('canary');
});

describe('what is not the public', () => {
  const refused = [
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '0.0.0.0',
    '169.254.1.1',
    '100.64.0.1',
    '255.255.255.255',
    '224.0.0.1',
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '192.175.48.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '240.0.0.1',
    // The same in other spellings.
    '2130706433',
    '0x7f000001',
    '017700000001',
    '127.1',
    '0x7f.1',
    '0177.0.0.1',
    '１２７.0.0.1',
    '%31%32%37.0.0.1',
    '127.0.0.1.',
    '127.0.0.1..',
    '2130706433..',
    '0x7f.1..',
    '127.0.0.1%2e%2e',
    '127。0。0。1',
    // Addresses that hold one of IPv4: compatible, mapped, translated, NAT64, 6to4, Teredo.
    '[::127.0.0.1]',
    '[::8.8.8.8]',
    '[::ffff:127.0.0.1]',
    '[::ffff:8.8.8.8]',
    '[::ffff:0:10.0.0.1]',
    '[64:ff9b::10.0.0.1]',
    '[64:ff9b::8.8.8.8]',
    '[64:ff9b:1::10.0.0.1]',
    '[2002:a00:1::]',
    '[2002:808:808::]',
    '[2001:0:a00:1::]',
    // What is not global unicast, and what of it is special.
    '[::]',
    '[::1]',
    '[100::1]',
    '[fc00::1]',
    '[fd12::1]',
    '[fe80::1]',
    '[fec0::1]',
    '[ff02::1]',
    '[4000::1]',
    '[5f00::1]',
    '[1000::1]',
    '[2001:db8::1]',
    '[2001:2::1]',
    '[2001:10::1]',
    '[2001:20::1]',
    '[2620:4f:8000::1]',
    '[3ffe::1]',
    '[3fff::1]',
    // Clouds' own services.
    '168.63.129.16',
    '169.254.169.254',
    '169.254.170.2',
    '100.100.100.200',
    '192.0.0.192',
    '[fd00:ec2::254]',
    '[fd20:ce::254]',
    'metadata.google.internal',
    'metadata.goog',
    'metadata',
    'metadata.tencentyun.com',
    'metadata.azure.com',
    'METADATA.google.internal.',
    'instance-data.ec2.internal',
    'metadata.platformequinix.com',
    '168.63.129.16.',
    '0xa83f8110',
    '2822734096',
    // Names that a network gives itself.
    'localhost',
    'LOCALHOST.',
    'localhost..',
    'a.localhost',
    'printer.local',
    'db.internal',
    'db',
    'kubernetes.default.svc',
    'nas.home.arpa',
    'a..example.com',
    '1.0.0.127.in-addr.arpa',
    'example.0x7f',
  ];

  test.each(refused)('is refused: %s', (host) => {
    const url = URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`) : null;
    // What the runtime takes for no URL at all is never called either.
    if (url !== null) expect(blockedUrlReason(url, []), url.href).not.toBeNull();
  });

  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '134744072',
    '[2606:4700:4700::1111]',
    '[2a00:1450:4001::200e]',
    'example.com',
    'example.com.',
    'a.b.co.uk',
  ])('is none: %s', (host) => expect(blockedUrlReason(new URL(`https://${host}/`), [])).toBeNull());

  test('may be called where its origin is allowed, and that origin alone', () => {
    const allowed = ['http://127.0.0.1:8788'];
    expect(blockedUrlReason(new URL('http://127.0.0.1:8788/a'), allowed)).toBeNull();
    expect(blockedUrlReason(new URL('http://127.0.0.1:8787/a'), allowed)).not.toBeNull();
    expect(blockedUrlReason(new URL('https://127.0.0.1:8788/a'), allowed)).not.toBeNull();
  });

  test.each(['http://169.254.169.254/latest', 'http://[::7f00:1]/', 'http://168.63.129.16/', 'https://db.internal/', 'file:///etc/passwd'])(
    'is not called behind a redirect either: %s',
    async (location) => {
      for (const hops of [[location], ['/once-more', location]]) {
        const { asked, answer } = await redirected(hops);
        expect(asked).toHaveLength(hops.length);
        expect(answer).toMatchObject({ failure: 'refused', message: expect.stringContaining('may not be called') });
      }
    },
  );
});

describe('a name', () => {
  let serial = 0;
  const newName = () => `host-${Date.now().toString(36)}-${serial++}.example.com`;
  const deployed = urlPolicy({ ALLOWED_PRIVATE_ORIGINS: ['https://mine.example.com'], DEPLOYMENT_MODE: 'cloud' });
  const ask = (url: string, rules = deployed) =>
    sendGuardedRequest({ method: 'GET', url, headers: {}, body: null, timeout_seconds: 5 }, rules);

  /** A DNS of these addresses, asked over HTTPS as the runtime does, and an outside that answers; gives what each was asked. */
  function world(addresses: Record<string, string[]>, { brokenDns = false, redirects = {} as Record<string, string> } = {}) {
    const questions: string[] = [];
    const calls = stubFetch('https://', (request) => {
      const url = new URL(request.url);
      const location = redirects[url.host];
      if (location !== undefined) return new Response(null, { status: 302, headers: { location } });
      if (url.host !== 'cloudflare-dns.com') return Response.json({ ok: true });
      const [name, type] = [url.searchParams.get('name')!, url.searchParams.get('type')!];
      questions.push(`${type} ${name}`);
      if (brokenDns) return new Response('busy', { status: 503 });
      const fitting = (addresses[name] ?? []).filter((address) => address.includes(':') === (type === 'AAAA'));
      const records = fitting.map((data) => ({ name, type: type === 'AAAA' ? 28 : 1, TTL: 60, data }));
      return Response.json({
        Status: 0,
        TC: false,
        RD: true,
        RA: true,
        AD: false,
        CD: false,
        Question: [{ name, type: type === 'AAAA' ? 28 : 1 }],
        ...(records.length > 0 && { Answer: records }),
      });
    });
    return { questions, called: () => calls.map(({ url }) => url).filter((url) => !url.includes('cloudflare-dns.com')) };
  }

  test.each(['10.0.0.7', '127.0.0.1', '169.254.169.254', '168.63.129.16', 'fd00:ec2::254', '::ffff:10.0.0.7', '64:ff9b::a00:7'])(
    'that leads to %s is not called by a deployed service',
    async (address) => {
      const name = newName();
      const { called } = world({ [name]: [address] });
      expect(await ask(`https://${name}/a`)).toMatchObject({ failure: 'refused', message: expect.stringContaining(`"${name}" leads to `) });
      expect(called()).toEqual([]);
    },
  );

  test('of which one address of several is private is not called', async () => {
    const name = newName();
    const { called } = world({ [name]: ['93.184.216.34', '2606:4700::1', '192.168.0.9'] });
    expect(await ask(`https://${name}/`)).toMatchObject({ failure: 'refused' });
    expect(called()).toEqual([]);
  });

  test('behind a redirect is asked about as well', async () => {
    const [first, second] = [newName(), newName()];
    const addresses = { [first]: ['93.184.216.34'], [second]: ['10.0.0.7'] };
    const { questions } = world(addresses, { redirects: { [first]: `https://${second}/` } });
    expect(await ask(`https://${first}/`)).toMatchObject({ failure: 'refused', message: expect.stringContaining(second) });
    expect(questions).toContain(`A ${second}`);
  });

  test('that leads to the public is asked about once, whatever dots stand behind it, and called each time', async () => {
    const name = newName();
    const { questions, called } = world({ [name]: ['93.184.216.34'], [`${name}.`]: ['93.184.216.34'] });
    for (const host of [name, `${name}.`, name.toUpperCase()]) expect(await ask(`https://${host}/`)).toMatchObject({ status: 200 });
    expect(questions.toSorted()).toEqual([`A ${name}`, `AAAA ${name}`]);
    expect(called()).toHaveLength(3);
  });

  test('that the DNS tells nothing of is called, since the call asks the same DNS', async () => {
    const name = newName();
    const { called } = world({}, { brokenDns: true });
    expect(await ask(`https://${name}/`)).toMatchObject({ status: 200 });
    expect(called()).toHaveLength(1);
  });

  test('is not asked about where its origin is allowed, it is an address, or the service is local', async () => {
    const { questions } = world({ 'mine.example.com': ['10.0.0.7'] });
    expect(await ask('https://mine.example.com/')).toMatchObject({ status: 200 });
    expect(await ask('https://93.184.216.34/')).toMatchObject({ status: 200 });
    expect(await ask(`https://${newName()}/`, local)).toMatchObject({ status: 200 });
    expect(questions).toEqual([]);
  });
});
