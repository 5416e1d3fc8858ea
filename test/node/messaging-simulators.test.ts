import { describe, expect, onTestFinished, test } from 'vitest';
import { createGupshup } from '../../simulators/gupshup.ts';
import { listen } from '../../simulators/listen.ts';
import { createMeta } from '../../simulators/meta.ts';
import { createTwilio } from '../../simulators/twilio.ts';
import { createWati } from '../../simulators/wati.ts';
import { Customer, eventually } from './carrier-customer.ts';

const accountSid = 'AC00000000000000000000000000000001';
const basic = { authorization: `Basic ${Buffer.from(`${accountSid}:token`).toString('base64')}` };
const bearer = { authorization: 'Bearer token-1' };
const json = { ...bearer, 'content-type': 'application/json' };

async function start(callbacks: 'send' | 'hold' = 'send') {
  const given = { callbacks, retry_delays_ms: [5], delivery_ms: 5 };
  const twilio = createTwilio({ callbacks, retry_delays_ms: [5] });
  const { url, close } = await listen({ port: 0, vendors: [createWati(given), createMeta(given), createGupshup(given), twilio] });
  onTestFinished(close);
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(url + path, init);
    const text = await answer.text();
    return { status: answer.status, body: (text === '' ? null : JSON.parse(text)) as any };
  };
  const post = (path: string, headers: Record<string, string>, body: unknown) =>
    ask(path, { method: 'POST', headers, body: body instanceof URLSearchParams ? body : JSON.stringify(body) });
  return { url, ask, post };
}

describe('WATI', () => {
  const path = '/wati/1/api/v2/sendTemplateMessage?whatsappNumber=14155550123';
  const parameters = [
    { name: 'customer_name', value: 'Ada' },
    { name: 'order_number', value: '7' },
  ];
  const order = { template_name: 'order_update', broadcast_name: 'b', parameters };

  test('answers nobody without a token, without a body', async () => {
    const { post, ask } = await start();
    for (const authorization of ['', 'token', 'Bearer', 'Bearer invalid-token'])
      expect(await post(path, { ...json, authorization }, order)).toEqual({ status: 401, body: null });
    expect(await ask('/wati/1/api/v1/getMessageTemplates')).toEqual({ status: 401, body: null });
    expect((await ask('/wati/1/api/v1/nothing', { headers: bearer })).status).toBe(404);
  });

  test('refuses with 400 what it cannot read', async () => {
    const { post, ask } = await start();
    for (const [at, headers, body] of [
      [path.replace('=1415', '=%2B1415'), json, order],
      [path.replace('whatsappNumber', 'phone'), json, order],
      [path, { ...json, 'content-type': 'text/plain' }, order],
      [path, json, { ...order, extra: 1 }],
      [path, json, { ...order, broadcast_name: '' }],
      [path, json, null],
    ] as const)
      expect(await post(at, headers, body)).toMatchObject({ status: 400, body: { result: false, info: expect.any(String) } });
    for (const query of ['pageSize=0', 'pageNumber=x', 'page=1'])
      expect((await ask(`/wati/1/api/v1/getMessageTemplates?${query}`, { headers: bearer })).status).toBe(400);
  });

  test('refuses with 200 what it can read', async () => {
    const { post } = await start();
    for (const change of [
      { template_name: 'nothing' },
      { template_name: 'old_promo', parameters: [] },
      { parameters: [parameters[0]] },
      { parameters: [...parameters, { name: 'more', value: 'x' }] },
      { parameters: [parameters[0], { name: 'order_number', value: 'a\nb' }] },
    ])
      expect(await post(path, json, { ...order, ...change })).toMatchObject({ status: 200, body: { result: false } });
  });
});

describe('Meta', () => {
  const path = '/meta/v25.0/1001/messages';
  const values = (...texts: string[]) => [{ type: 'body', parameters: texts.map((text) => ({ type: 'text', text })) }];
  const template = { name: 'order_update', language: { code: 'en_US' }, components: values('Ada', '7') };
  const order = { messaging_product: 'whatsapp', to: '14155550123', type: 'template', template };

  test.each([
    [{}, 200, undefined],
    [{ to: '+14155550123' }, 200, undefined],
    [{ to: '0123' }, 400, 131009],
    [{ messaging_product: 'sms' }, 400, 100],
    [{ extra: 1 }, 400, 100],
    [{ type: 'text' }, 400, 100],
    [{ template: { ...template, name: 'nothing' } }, 404, 132001],
    [{ template: { ...template, language: { code: 'en_GB' } } }, 404, 132001],
    [{ template: { name: 'old_promo', language: { code: 'en' } } }, 404, 132001],
    [{ template: { ...template, components: undefined } }, 400, 132000],
    [{ template: { ...template, components: values('Ada', '7', 'x') } }, 400, 132000],
    [{ template: { ...template, components: values('Ada', '') } }, 400, 132018],
    [{ template: { ...template, components: values('Ada', 'a\tb') } }, 400, 132018],
    [{ to: '14155550013' }, 429, 130429],
  ])('answers a message with %j by %d and code %s', async (change, status, code) => {
    const { post } = await start();
    const answer = await post(path, json, { ...order, ...change });
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
  });

  test('wants a token, a content type and a path that it has', async () => {
    const { post, ask } = await start();
    expect(await post(path, { 'content-type': 'application/json' }, order)).toMatchObject({ status: 401, body: { error: { code: 200 } } });
    const refused = await post(path, { ...json, authorization: 'Bearer invalid' }, order);
    expect(refused).toMatchObject({ status: 401, body: { error: { code: 190, type: 'OAuthException', fbtrace_id: expect.any(String) } } });
    expect(await post(path, { ...bearer, 'content-type': 'text/plain' }, order)).toMatchObject({
      status: 400,
      body: { error: { code: 100 } },
    });
    for (const wrong of ['/meta/1001/messages', '/meta/v25.0/abc/messages', '/meta/v25.0/1001/letters'])
      expect(await ask(wrong, { headers: bearer })).toMatchObject({ status: 400, body: { error: { code: 2500 } } });
  });

  test('lists what is asked for and refuses what it does not know', async () => {
    const { ask } = await start();
    const list = (query: string) => ask(`/meta/v25.0/2002/message_templates?${query}`, { headers: bearer });
    expect((await list('fields=name&status=REJECTED')).body.data).toEqual([{ name: 'old_promo', id: expect.any(String) }]);
    const first = await list('limit=2&fields=name');
    expect(first.body.paging.next).toContain('/meta/v25.0/2002/message_templates?limit=2');
    const last = await list(`limit=2&fields=name&after=${first.body.paging.cursors.after}`);
    expect(last.body.paging.next).toBeUndefined();
    expect([...first.body.data, ...last.body.data]).toHaveLength(4);
    for (const query of ['fields=secret', 'limit=0', 'after=nonsense', 'unknown=1'])
      expect(await list(query)).toMatchObject({ status: 400, body: { error: { code: 100 } } });
  });

  test('asks an address for its consent before it takes it', async () => {
    const { post } = await start();
    const customer = await Customer.start();
    const registration = { url: `${customer.url}/hook`, verify_token: 'tok' };
    expect((await post('/meta/__sim/webhook', {}, registration)).status).toBe(422);
    customer.respond = ({ form }) => ({ body: form.get('hub.verify_token') === 'tok' ? form.get('hub.challenge')! : '' });
    expect((await post('/meta/__sim/webhook', {}, registration)).status).toBe(201);
  });
});

describe('Gupshup', () => {
  const order = (more: Record<string, string> = {}) =>
    new URLSearchParams({ channel: 'whatsapp', source: '917834811114', destination: '14155550123', 'src.name': 'DemoApp', ...more });

  test('answers by its own errors', async () => {
    const { post, ask } = await start();
    const send = async (more: Record<string, string>, apikey = 'k', path = 'template/msg') => {
      const answer = await post(`/gupshup/wa/api/v1/${path}`, { apikey }, order(more));
      return [answer.status, answer.body.status, answer.body.message];
    };
    const { templates } = (await ask('/gupshup/sm/api/v1/template/list/DemoApp', { headers: { apikey: 'k' } })).body;
    const template = (params: string[], id = templates[0].id as string) => ({ template: JSON.stringify({ id, params }) });
    expect(await send(template(['Ada', '7']))).toEqual([202, 'submitted', undefined]);
    expect(await send(template(['Ada', '7']), '')).toEqual([401, 'error', 'Portal User Not Found With APIKey']);
    expect(await send(template(['Ada', '7']), 'invalid')).toEqual([401, 'error', 'Portal User Not Found With APIKey']);
    expect(await send(template(['Ada']))).toEqual([400, 'error', 'Template params mismatch: 1 given, 2 expected']);
    expect(await send(template([], templates[2].id))).toEqual([400, 'error', 'Template Not Found']);
    expect(await send({ template: '{' })).toEqual([400, 'error', 'Invalid Template']);
    expect(await send({ ...template(['Ada', '7']), destination: '+14155550123' })).toEqual([400, 'error', 'Invalid Destination']);
    expect(await send({ ...template(['Ada', '7']), 'src.name': '' })).toEqual([400, 'error', 'Invalid App Details']);
    expect(await send({ ...template(['Ada', '7']), extra: '1' })).toEqual([400, 'error', 'Unknown parameter extra']);
    expect(await send({ message: '{"type":"text","text":"Hi"}' }, 'k', 'msg')).toEqual([202, 'submitted', undefined]);
    expect(await send({ message: 'Hi' }, 'k', 'msg')).toEqual([400, 'error', 'Invalid Message']);
    const asJson = await post('/gupshup/wa/api/v1/msg', { apikey: 'k', 'content-type': 'application/json' }, {});
    expect([asJson.status, asJson.body.status]).toEqual([415, 'error']);
    const byName = await ask('/gupshup/wa/app/DemoApp/template', { headers: { apikey: 'k' } });
    expect([byName.status, byName.body.message]).toEqual([400, 'Invalid App Details']);
  });
});

describe('Twilio', () => {
  const path = `/twilio/2010-04-01/Accounts/${accountSid}/Messages.json`;
  const order = { From: 'whatsapp:+15005550006', To: 'whatsapp:+14155550123' };

  async function started() {
    const { post, ask } = await start();
    const { contents } = (await ask('/twilio/content/v1/ContentAndApprovals', { headers: basic })).body;
    const send = async (more: Record<string, string>, headers: Record<string, string> = basic) => {
      const answer = await post(
        path,
        headers,
        new URLSearchParams(Object.entries({ ...order, ...more }).filter(([, value]) => value !== '')),
      );
      return [answer.status, answer.body.code ?? answer.body.status];
    };
    return { ask, post, contents, send };
  }

  test('answers a message by its own errors', async () => {
    const { contents, send } = await started();
    const content = { ContentSid: contents[0].sid as string, ContentVariables: '{"1":"Ada","2":"7"}' };
    expect(await send(content)).toEqual([201, 'queued']);
    expect(await send({ Body: 'Hi' })).toEqual([201, 'queued']);
    expect(await send(content, {})).toEqual([401, 20003]);
    expect(await send({ ...content, ContentVariables: '{"1":"Ada"}' })).toEqual([400, 21656]);
    expect(await send({ ...content, ContentVariables: '{"1":"Ada","2":" "}' })).toEqual([400, 21656]);
    expect(await send({ ...content, ContentVariables: '{"1":"Ada","2":"7","3":"x"}' })).toEqual([400, 21656]);
    expect(await send({ ...content, ContentVariables: '{' })).toEqual([400, 21656]);
    expect(await send({ ContentSid: 'HX1' })).toEqual([400, 21655]);
    expect(await send({ ...content, To: '+14155550123' })).toEqual([400, 21211]);
    expect(await send({ ...content, To: '' })).toEqual([400, 21604]);
    expect(await send({ ...content, From: '' })).toEqual([400, 21603]);
    expect(await send({ ...content, From: '+15005550006' })).toEqual([400, 63007]);
    expect(await send({ ...content, From: '', MessagingServiceSid: 'MG1' })).toEqual([400, 21701]);
    expect(await send({ ...content, StatusCallback: 'nowhere' })).toEqual([400, 21609]);
    expect(await send({ ...content, Misspelt: 'x' })).toEqual([400, 20001]);
    expect(await send({})).toEqual([400, 21619]);
    expect(await send({ Body: 'x'.repeat(1601) })).toEqual([400, 21617]);
    expect(await send({ ...content, To: 'whatsapp:+14155550013' })).toEqual([429, 20429]);
  });

  test('shows a message and what became of it', async () => {
    const { post, ask } = await started();
    const { sid } = (await post(path, basic, new URLSearchParams({ ...order, Body: 'Hi', To: 'whatsapp:+14155550012' }))).body;
    const shown = () => ask(path.replace('.json', `/${sid}.json`), { headers: basic });
    const message = await eventually(async () => {
      const { body } = await shown();
      return body.status === 'undelivered' && body;
    }, 'The end of the message');
    expect(message).toMatchObject({ sid, to: 'whatsapp:+14155550012', from: order.From, body: 'Hi', error_code: 63016 });
    expect((await ask(path.replace('.json', `/SM${'0'.repeat(32)}.json`), { headers: basic })).body.code).toBe(20404);
  });

  test('pages its contents', async () => {
    const { ask } = await started();
    const first = await ask('/twilio/content/v1/ContentAndApprovals?PageSize=2', { headers: basic });
    expect(first.body.contents).toHaveLength(2);
    const next = new URL(first.body.meta.next_page_url);
    const last = await ask(next.pathname + next.search, { headers: basic });
    expect(last.body.contents).toMatchObject([{ friendly_name: 'old_promo', approval_requests: { status: 'rejected' } }]);
    expect(last.body.meta.next_page_url).toBeNull();
    expect((await ask('/twilio/content/v1/ContentAndApprovals')).body.code).toBe(20003);
    expect((await ask('/twilio/content/v1/ContentAndApprovals?PageSize=0', { headers: basic })).body.code).toBe(20001);
  });
});

describe('steering', () => {
  test('callbacks that are held are handed out by account, and those of messages stand beside those of calls', async () => {
    const { ask, post } = await start('hold');
    await post('/wati/__sim/webhook', {}, { url: 'https://calls.example.com/a', account: '1' });
    await post('/wati/1/api/v1/sendSessionMessage/14155550123?messageText=Hi', bearer, {});
    const order = { From: 'whatsapp:+15005550006', To: 'whatsapp:+14155550123', Body: 'Hi', StatusCallback: 'https://calls.example.com/d' };
    await post(`/twilio/2010-04-01/Accounts/${accountSid}/Messages.json`, basic, new URLSearchParams(order));
    for (const [vendor, account, events] of [
      ['wati', '1', ['sessionMessageSent', 'sessionMessageSent_v2', 'sentMessageDELIVERED_v2']],
      ['twilio', accountSid, ['sent', 'delivered']],
    ] as const) {
      const due: { event: string; id: string }[] = [];
      while (due.length < events.length) due.push(...(await ask(`/${vendor}/__sim/due?account=${account}&wait_ms=5000`)).body.due);
      expect(due.map(({ event }) => event)).toEqual(events);
      expect((await post(`/${vendor}/__sim/due/${due[0]!.id}`, {}, { status: 200 })).body).toEqual({ settled: true });
    }
  });

  test('a callback is sent again, signed, on demand', async () => {
    const { ask, post } = await start();
    const customer = await Customer.start();
    await post('/meta/__sim/webhook', {}, { url: `${customer.url}/hook`, app_secret: 's' });
    const text = { messaging_product: 'whatsapp', to: '14155550123', type: 'text', text: { body: 'Hi' }, biz_opaque_callback_data: 'k1' };
    const { id } = (await post('/meta/v25.0/1001/messages', json, text)).body.messages[0];
    const statusOf = (body: string) => JSON.parse(body).entry[0].changes[0].value.statuses[0];
    await customer.next('/hook', ({ body }) => statusOf(body).status === 'delivered');
    expect((await post('/__sim/emit', {}, { provider: 'meta', message_id: id, event: 'sent' })).body).toMatchObject({ event: 'sent' });
    const callbacks = customer.at('/hook').map(({ body, headers }) => [statusOf(body).status, headers['x-hub-signature-256']]);
    expect(callbacks.map(([status]) => status)).toEqual(['sent', 'delivered', 'sent']);
    expect(callbacks[2]).toEqual(callbacks[0]);
    expect(statusOf(customer.at('/hook')[0]!.body)).toMatchObject({ id, recipient_id: '14155550123', biz_opaque_callback_data: 'k1' });
    expect((await post('/__sim/emit', {}, { provider: 'meta', message_id: 'nothing' })).status).toBe(404);
    expect((await post('/__sim/emit', {}, { provider: 'meta' })).status).toBe(422);
    expect((await ask('/meta/__sim/messages?reference=k1')).body).toMatchObject({ total: 1, messages: [{ id, status: 'delivered' }] });
    expect((await ask('/meta/__sim/messages?account=9')).body.total).toBe(0);
  });

  test('templates of one account are not those of another', async () => {
    const { ask, post } = await start();
    expect((await post('/wati/__sim/templates', {}, { account: '1', templates: [{ name: 'mine', body: 'Hi' }] })).status).toBe(201);
    const names = async (tenant: string) =>
      (
        (await ask(`/wati/${tenant}/api/v1/getMessageTemplates`, { headers: bearer })).body.messageTemplates as { elementName: string }[]
      ).map(({ elementName }) => elementName);
    expect(await names('1')).toContain('mine');
    expect(await names('2')).not.toContain('mine');
    expect((await post('/wati/__sim/templates', {}, { account: '1', templates: [{ name: 'mine' }] })).status).toBe(422);
  });
});
