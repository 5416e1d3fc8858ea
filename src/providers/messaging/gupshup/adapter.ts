import { systemRuntime } from '../../http/runtime.ts';
import { createProviderExchange, maxPages, unexpectedSendResponse, unexpectedListResponse, type ProviderResponse } from '../exchange.ts';
import { readGupshupCallback } from './callbacks.ts';
import { failureFromResponse } from './errors.ts';
import { parseGupshupTemplate } from './templates.ts';
import type { MessagingFailure } from '../failures.ts';
import type { Message, MessagingOptions, MessagingProvider, SendResult, TemplatesResult } from '../messaging.ts';
import { fillParameters } from '../template-parameters.ts';
import { isApproved, type Template } from '../templates.ts';
import { tryParseJson } from '../../../library/json/json.ts';
import { stripPlus, checkText } from '../parse-fields.ts';
import { percentEncoded } from '../../../library/text/clean-text.ts';

export interface GupshupAccount {
  apiKey: string;
  /** The sending number. */
  source: string;
  appName: string;
  /** The id of the app. Some accounts list templates by the app's name, too. */
  appId?: string;
}

const provider = 'Gupshup';
const maxTextLength = 4096;
const pageSize = 100;

/** The self-serve API of Gupshup (https://docs.gupshup.io/reference). */
export function gupshupMessaging(account: GupshupAccount, options: MessagingOptions): MessagingProvider {
  const { apiKey } = account;
  const { runtime = systemRuntime } = options;
  const exchange = createProviderExchange(provider, options);
  const base = options.gupshupBaseUrl.replace(/\/+$/, '');
  const app = percentEncoded(account.appId ?? account.appName);
  const read = (path: string) => exchange.read({ url: base + path, headers: { apikey: apiKey } });
  const failureOf = (answer: ProviderResponse, isSend: boolean) => failureFromResponse(answer, { now: runtime.now(), isSend }, apiKey);
  /** All pages of the list by app id, where some accounts accept the name. */
  async function pagesOfApp(): Promise<{ listed: unknown[] } | { answer: ProviderResponse }> {
    const all = new Map<string, unknown>();
    for (let page = 0; page < maxPages; page++) {
      const answer = await read(`/wa/app/${app}/template?pageNo=${page}&pageSize=${pageSize}`);
      const listed = templatesIn(answer);
      if (listed === undefined || failureOf(answer, false)) return { answer };
      const before = all.size;
      for (const one of listed) all.set(JSON.stringify(one), one);
      // A server without paging returns the whole list each time.
      if (listed.length !== pageSize || all.size === before) break;
    }
    return { listed: [...all.values()] };
  }

  return {
    provider: 'provider_c',

    async listTemplates(): Promise<TemplatesResult> {
      const pages = await pagesOfApp();
      let listed = 'listed' in pages ? pages.listed : undefined;
      if ('answer' in pages) {
        const failure = failureOf(pages.answer, false);
        if (failure?.retryable) return failure;
        // The older list accepts the app's name.
        const legacy = await read(`/sm/api/v1/template/list/${percentEncoded(account.appName)}`);
        const refused = failureOf(legacy, false);
        if (refused)
          return account.appId === undefined && refused.failure !== 'auth' && !refused.retryable ? missingAppIdFailure(refused) : refused;
        listed = templatesIn(legacy);
      }
      if (listed === undefined) return unexpectedListResponse(provider);
      const templates: Template[] = listed.flatMap((one) => parseGupshupTemplate(one) ?? []);
      return { templates: templates.filter(({ status }) => isApproved(status)) };
    },

    async send(message): Promise<SendResult> {
      const content = toSendRequest(message);
      if ('failure' in content) return content;
      const form = new URLSearchParams({
        channel: 'whatsapp',
        source: stripPlus(account.source),
        destination: stripPlus(message.to),
        'src.name': account.appName,
        ...content.fields,
      });
      const answer = await exchange.send({
        url: `${base}/wa/api/v1/${content.path}`,
        headers: { apikey: apiKey, 'content-type': 'application/x-www-form-urlencoded' },
        body: form.toString(),
      });
      const failure = failureOf(answer, true);
      if (failure) return failure;
      const body = 'unreachable' in answer ? undefined : answer.body;
      const [messageId, status] = [body?.['messageId'], body?.['status']];
      if (typeof messageId !== 'string' || messageId === '') return unexpectedSendResponse(provider);
      return { messageId, status: typeof status === 'string' && status !== '' ? status : 'submitted' };
    },

    // Gupshup signs no callbacks, so the address must be secret.
    readCallback: ({ body }) => ({ events: readGupshupCallback(tryParseJson(body), runtime.now(), apiKey) }),
  };
}

const missingAppIdFailure = (refused: MessagingFailure): MessagingFailure => ({
  ...refused,
  message: `Gupshup lists templates by the id of the app; give app_id beside app_name, as the Gupshup console shows it. ${refused.message}`,
});

function templatesIn(answer: ProviderResponse): unknown[] | undefined {
  const listed = 'unreachable' in answer ? undefined : answer.body?.['templates'];
  return Array.isArray(listed) ? listed : undefined;
}

function toSendRequest(message: Message) {
  if ('text' in message) {
    const { text } = message;
    return checkText(text, maxTextLength) ?? { path: 'msg', fields: { message: JSON.stringify({ type: 'text', text }) } };
  }
  const reading = fillParameters(message.template, message.params);
  if ('failure' in reading) return reading;
  const params = reading.filled.filter(({ kind }) => kind === 'text').map(({ value }) => value);
  const medium = reading.filled.find(({ kind }) => kind !== 'text');
  const media = medium && { message: JSON.stringify({ type: medium.kind, [medium.kind]: { link: medium.value } }) };
  return { path: 'template/msg', fields: { template: JSON.stringify({ id: message.template.id, params }), ...media } };
}
