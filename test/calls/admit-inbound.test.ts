import { env, exports } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sign } from '../../simulators/twilio/signature.ts';
import { callingOrganization, type CallingOrganization } from '../support/carrier.ts';
import { newOrganization, newPhone } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const token = 'a-token-of-the-test';
let serial = 0;

async function setUp(options: CallingOrganization = {}) {
  const organization = await callingOrganization({ inbound: true, authToken: token, ...options });
  const base = `https://service.test/api/v1/telephony/${organization.id}/${organization.configId}`;
  /** A request of Twilio, with a valid signature unless another is given. */
  const post = (url: string, form: Record<string, string>, signature = sign(token, url, Object.entries(form))) =>
    exports.default.fetch(
      new Request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature },
        body: new URLSearchParams(form).toString(),
      }),
    );
  const ringing = (from = newPhone()) => ({
    CallSid: `CA${String(++serial).padStart(32, '0')}`,
    AccountSid: organization.account,
    From: from,
    To: '+15005550006',
    CallStatus: 'ringing',
    Direction: 'inbound',
  });
  const runs = async () =>
    (await env.DB.prepare('SELECT * FROM voice_agent_run WHERE organization_id = ? ORDER BY id').bind(organization.id).all()).results;
  return { ...organization, base, post, ringing, runs, slots: env.CALL_SLOTS.getByName(String(organization.id)) };
}

const relayOf = (document: string) => /<ConversationRelay url="([^"]+)"/.exec(document)?.[1]?.replaceAll('&amp;', '&');

/** The answer to the carrier's request for the socket of a call. */
const opened = (address: string, headers: Record<string, string> = { upgrade: 'websocket' }) =>
  exports.default.fetch(new Request(address.replace('wss://', 'https://'), { headers }));

describe('an inbound call', () => {
  it('is answered by the agent of the number, with its contact, and holds a slot until it ends', async () => {
    const { base, client, post, ringing, runs, slots, agentId } = await setUp();
    const phone = newPhone();
    const contact = await client.post('/contacts', { phone, first_name: 'Ada' });
    const call = ringing(phone);
    const answer = await post(`${base}/inbound`, call);
    const document = await answer.text();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/xml')]);
    expect(relayOf(document)).toMatch(new RegExp(`^wss://service.test/api/v1/telephony/.*/relay/[\\w-]+/\\d+/[0-9a-f]{64}$`));
    const [run] = await runs();
    expect(run).toMatchObject({
      call_type: 'inbound',
      mode: 'twilio',
      phone,
      own_number: '+15005550006',
      contact_id: contact.body.id,
      agent_id: agentId,
    });
    expect(await slots.getCallStatus(`inbound:${call.CallSid}`)).toMatchObject({ callStatus: 'in_progress' });
    // Twilio repeats a request that was not answered in time.
    expect(relayOf(await (await post(`${base}/inbound`, call)).text())).toBeDefined();
    expect(await runs()).toHaveLength(1);
    const socket = await opened(relayOf(document)!);
    socket.webSocket!.accept();
    socket.webSocket!.send(JSON.stringify({ type: 'setup', sessionId: 'VX1', callSid: call.CallSid }));
    await new Promise((resolve) => socket.webSocket!.addEventListener('message', resolve, { once: true }));
    const ended = { ...call, CallStatus: 'completed', CallDuration: '12' };
    expect((await post(`${base}/inbound`, ended)).status).toBe(200);
    await vi.waitFor(async () => expect((await runs())[0]).toMatchObject({ is_completed: 1, outcome: 'completed' }), { timeout: 15_000 });
  });

  it('is refused when every slot is taken, and its run says so', async () => {
    const { base, post, ringing, runs } = await setUp({ concurrentCalls: 1 });
    expect(relayOf(await (await post(`${base}/inbound`, ringing())).text())).toBeDefined();
    expect(await (await post(`${base}/inbound`, ringing())).text()).toContain('<Hangup');
    await vi.waitFor(async () =>
      expect((await runs()).map(({ is_completed, reason }) => [is_completed, reason])).toContainEqual([
        1,
        expect.stringContaining('call_slots'),
      ]),
    );
  });

  it('to a number without an agent is ended', async () => {
    const { base, post, ringing, runs } = await setUp({ inbound: false });
    expect(await (await post(`${base}/inbound`, ringing())).text()).toContain('<Hangup');
    expect(await runs()).toEqual([]);
  });

  it('is refused without the signature of the carrier', async () => {
    const { base, post, ringing, runs } = await setUp();
    expect((await post(`${base}/inbound`, ringing(), 'forged')).status).toBe(401);
    expect((await post(`${base}/inbound`, ringing(), '')).status).toBe(401);
    const other = await newOrganization();
    const foreign = `https://service.test/api/v1/telephony/${other.id}/1/inbound`;
    expect((await post(foreign, ringing())).status).toBe(401);
    expect(await runs()).toEqual([]);
  });

  it('with a withheld number is admitted', async () => {
    const { base, post, ringing, runs } = await setUp();
    for (const from of ['anonymous', '+266696687', ''])
      expect(relayOf(await (await post(`${base}/inbound`, ringing(from))).text())).toBeDefined();
    expect(await runs()).toHaveLength(3);
  });
});

describe('the socket of a call', () => {
  it('opens with its token alone', async () => {
    const { base, post, ringing } = await setUp();
    const url = relayOf(await (await post(`${base}/inbound`, ringing())).text())!;
    expect((await opened(url, {})).status).toBe(426);
    const forged = url.replace(/[0-9a-f]{64}$/, (signature) => (signature.startsWith('0') ? '1' : '0') + signature.slice(1));
    expect((await opened(forged)).status).toBe(403);
    expect((await opened(url.replace(/\/calls\/\d+\//, '/calls/999999/'))).status).toBe(403);
    expect((await opened(url.replace(/relay\/[\w-]+/, 'relay/other'))).status).toBe(403);
    expect((await opened(url.replace(/\/\d+\/([0-9a-f]{64})$/, '/1/$1'))).status).toBe(403);
    const socket = await opened(url);
    expect(socket.status).toBe(101);
    socket.webSocket!.accept();
    socket.webSocket!.close();
  });
});

describe('a callback of an unknown call', () => {
  it('is ignored, and so is one without an event', async () => {
    const { base, post, ringing, slots } = await setUp();
    const url = `${base}/calls/123/status?attempt=campaign:1:1:1`;
    const answer = await post(url, { ...ringing(), CallStatus: 'completed', Direction: 'outbound-api' });
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ignored' }]);
    expect(await (await post(url, { Hello: 'there' })).json()).toEqual({ status: 'ignored' });
    expect(await slots.getCallStatus('campaign:1:1:1')).toBeNull();
  });
});
