import type { Settings } from '../../src/settings.ts';
import { isOk, toRefusal, type SendRequest, type Check, type Finding, type Variables } from './send-request.ts';

const value = (variables: Variables, name: string) => variables[name] ?? '';
const ok = (saw: string): Finding => ({ state: 'ok', saw });
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token.replace(/^Bearer\s+/i, '')}` } });
const json = (init: { headers: Record<string, string> }, body: object): RequestInit => ({
  method: 'POST',
  headers: { ...init.headers, 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const without = (url: string) => url.replace(/\/+$/, '');
const dimensions = 1536;

type Addresses = Pick<
  Settings,
  | 'OPENAI_BASE_URL'
  | 'LANGUAGE_MODEL'
  | 'EMBEDDING_MODEL'
  | 'TWILIO_BASE_URL'
  | 'TELNYX_BASE_URL'
  | 'META_BASE_URL'
  | 'GUPSHUP_BASE_URL'
  | 'COMPOSIO_BASE_URL'
  | 'COMPOSIO_AUTH_CONFIGS'
>;

/** One harmless question or two to each vendor: none of them calls or writes to anybody. */
export function createChecks(addresses: Addresses): Check[] {
  const twilio = without(addresses.TWILIO_BASE_URL);
  const telnyx = without(addresses.TELNYX_BASE_URL);
  return [
    {
      vendor: 'OpenAI',
      needs: ['OPENAI_API_KEY'],
      async run(variables, ask) {
        const [base, key] = [without(addresses.OPENAI_BASE_URL), bearer(value(variables, 'OPENAI_API_KEY'))];
        const { LANGUAGE_MODEL: model, EMBEDDING_MODEL: embedding } = addresses;
        const messages = [{ role: 'user', content: 'Say yes.' }];
        const chat = await ask(`${base}/chat/completions`, json(key, { model, messages, max_completion_tokens: 16 }));
        if (!isOk(chat))
          return toRefusal(chat, `set OPENAI_API_KEY to a valid key with credit, and LANGUAGE_MODEL (${model}) to a model it may use`);
        const vectors = await ask(`${base}/embeddings`, json(key, { model: embedding, input: 'yes' }));
        if (!isOk(vectors)) return toRefusal(vectors, `set EMBEDDING_MODEL (${embedding}) to a model that this key may use`);
        const length = vectors.body?.data?.[0]?.embedding?.length;
        if (length === dimensions) return ok(`${model} answers; ${embedding} gives ${length} dimensions`);
        return {
          state: 'refused',
          saw: `${embedding} gives ${length} dimensions`,
          next: `set EMBEDDING_MODEL to a model of ${dimensions} dimensions`,
        };
      },
    },
    {
      vendor: 'Twilio',
      needs: ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN'],
      async run(variables, ask) {
        const sid = value(variables, 'TWILIO_ACCOUNT_SID');
        const basic = Buffer.from(`${sid}:${value(variables, 'TWILIO_AUTH_TOKEN')}`).toString('base64');
        const init = { headers: { authorization: `Basic ${basic}` } };
        const path = `${twilio}/2010-04-01/Accounts/${encodeURIComponent(sid)}`;
        const account = await ask(`${path}.json`, init);
        if (!isOk(account)) return toRefusal(account, 'copy TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN from the Twilio console');
        const numbers = await ask(`${path}/IncomingPhoneNumbers.json?PageSize=50`, init);
        if (!isOk(numbers)) return toRefusal(numbers, 'give a token that may list the numbers of the account');
        const { status, type } = account.body ?? {};
        if (status !== undefined && status !== 'active')
          return { state: 'refused', saw: `the account is ${status}`, next: 'see the Twilio console' };
        const listed: any[] = numbers.body?.incoming_phone_numbers ?? [];
        const voice = listed.filter((one) => one.capabilities?.voice !== false).map((one) => one.phone_number);
        if (voice.length === 0) return { state: 'refused', saw: 'no number of the account can call', next: 'buy a number with voice' };
        const trial = type === 'Trial' ? '; a trial account calls verified numbers alone' : '';
        return ok(
          `${voice.length} numbers that can call, ${voice.slice(0, 2).join(', ')}${trial}. ConversationRelay: ${await relayHint(ask, path, init)}`,
        );
      },
    },
    {
      vendor: 'Telnyx',
      needs: ['TELNYX_API_KEY', 'TELNYX_CONNECTION_ID'],
      async run(variables, ask) {
        const init = bearer(value(variables, 'TELNYX_API_KEY'));
        const id = value(variables, 'TELNYX_CONNECTION_ID');
        const application = await ask(`${telnyx}/call_control_applications/${encodeURIComponent(id)}`, init);
        if (application.status === 401 || application.status === 403) return toRefusal(application, 'set TELNYX_API_KEY to a valid key');
        if (!isOk(application)) return toRefusal(application, 'set TELNYX_CONNECTION_ID to the id of a Voice API application');
        const { application_name: name = id, active, outbound } = application.body?.data ?? {};
        if (active === false)
          return { state: 'refused', saw: `the application ${name} is not active`, next: 'switch it on in the Telnyx portal' };
        const profile = outbound?.outbound_voice_profile_id ? '' : '; it has no outbound voice profile, without which it calls nobody';
        return ok(`the Voice API application ${name}${profile}`);
      },
    },
    {
      vendor: 'Meta (provider_b)',
      needs: ['META_ACCESS_TOKEN', 'META_PHONE_NUMBER_ID', 'META_WABA_ID'],
      async run(variables, ask) {
        const [base, init] = [without(addresses.META_BASE_URL), bearer(value(variables, 'META_ACCESS_TOKEN'))];
        const phone = await ask(
          `${base}/${value(variables, 'META_PHONE_NUMBER_ID')}?fields=display_phone_number,verified_name,quality_rating`,
          init,
        );
        if (!isOk(phone)) return toRefusal(phone, 'correct META_ACCESS_TOKEN and META_PHONE_NUMBER_ID (the id, not the number)');
        const templates = await ask(`${base}/${value(variables, 'META_WABA_ID')}/message_templates?fields=name,status&limit=100`, init);
        if (!isOk(templates)) return toRefusal(templates, 'correct META_WABA_ID, or give the token whatsapp_business_management');
        return ok(`${phone.body?.display_phone_number ?? 'the number'}; ${counted(templates.body?.data)}`);
      },
    },
    {
      vendor: 'WATI (provider_a)',
      needs: ['WATI_API_ENDPOINT', 'WATI_API_TOKEN'],
      async run(variables, ask) {
        const base = without(value(variables, 'WATI_API_ENDPOINT'));
        const init = bearer(value(variables, 'WATI_API_TOKEN'));
        const older = await ask(`${base}/api/v1/getMessageTemplates?pageSize=200&pageNumber=1`, init);
        if (isOk(older)) return ok(counted(older.body?.messageTemplates));
        const root = base.replace(/\/[^/]*$/, (tenant) => (/^https?:\/$/.test(base.slice(0, -tenant.length)) ? tenant : ''));
        const newer = await ask(`${root}/api/ext/v3/messageTemplates?page_number=1&page_size=200`, init);
        if (isOk(newer)) return ok(`a scoped token; ${counted(newer.body?.message_templates)}`);
        return toRefusal(older, 'copy WATI_API_ENDPOINT and WATI_API_TOKEN from WATI, under Connectors, API');
      },
    },
    {
      vendor: 'Gupshup (provider_c)',
      needs: ['GUPSHUP_API_KEY', 'GUPSHUP_APP_NAME'],
      async run(variables, ask) {
        const [base, init] = [without(addresses.GUPSHUP_BASE_URL), { headers: { apikey: value(variables, 'GUPSHUP_API_KEY') } }];
        const [name, id] = [value(variables, 'GUPSHUP_APP_NAME'), value(variables, 'GUPSHUP_APP_ID')];
        const byId = await ask(`${base}/wa/app/${encodeURIComponent(id || name)}/template?pageNo=0&pageSize=100`, init);
        if (isOk(byId)) return ok(counted(byId.body?.templates));
        const byName = await ask(`${base}/sm/api/v1/template/list/${encodeURIComponent(name)}`, init);
        if (isOk(byName)) return ok(`by the app's name; ${counted(byName.body?.templates)}`);
        return toRefusal(byName.status === 404 ? byId : byName, 'correct GUPSHUP_API_KEY and GUPSHUP_APP_NAME, and give GUPSHUP_APP_ID');
      },
    },
    {
      vendor: 'Composio',
      needs: ['COMPOSIO_API_KEY'],
      async run(variables, ask) {
        const init = { headers: { 'x-api-key': value(variables, 'COMPOSIO_API_KEY') } };
        const configs = await ask(`${without(addresses.COMPOSIO_BASE_URL)}/auth_configs?limit=100`, init);
        if (!isOk(configs)) return toRefusal(configs, 'set COMPOSIO_API_KEY to the key of a project');
        const there = new Map<string, any>((configs.body?.items ?? []).map((item: any) => [item.id, item]));
        const wanted = addresses.COMPOSIO_AUTH_CONFIGS;
        const missing = wanted.filter(([, id]) => !there.has(id)).map(([app, id]) => `${app}=${id}`);
        if (wanted.length === 0)
          return {
            state: 'refused',
            saw: `${there.size} auth configs`,
            next: 'name them in COMPOSIO_AUTH_CONFIGS: chatapp=ac_...,tracker=ac_...',
          };
        if (missing.length > 0)
          return { state: 'refused', saw: `the project has no auth config ${missing.join(', ')}`, next: 'correct COMPOSIO_AUTH_CONFIGS' };
        return ok(`auth configs for ${wanted.map(([app]) => app).join(', ')}`);
      },
    },
  ];
}

const counted = (templates: unknown): string => {
  const all: any[] = Array.isArray(templates) ? templates : [];
  const approved = all.filter(({ status }) => String(status).toUpperCase() === 'APPROVED').length;
  return `${approved} approved templates of ${all.length}`;
};

/** Twilio has no request that shows whether ConversationRelay is switched on. The errors of earlier calls may show it. */
async function relayHint(ask: SendRequest, path: string, init: RequestInit): Promise<string> {
  const log = await ask(`${path}/Notifications.json?PageSize=50`, init).catch(() => undefined);
  const notifications: any[] = (log && isOk(log) && log.body?.notifications) || [];
  const isOff = notifications.some(({ message_text: text }) => /addendum|onboard/i.test(String(text)));
  return isOff
    ? 'the error log says that it is not switched on; accept the Predictive and Generative AI/ML Features Addendum under Voice, Settings, General'
    : 'cannot be asked about; switch it on under Voice, Settings, General';
}
