import { isRecord } from '../../../library/json/json.ts';
import { systemRuntime } from '../../http/runtime.ts';
import { createProviderExchange, maxPages, unexpectedSendResponse, unexpectedListResponse } from '../exchange.ts';
import { readMetaWebhook } from './callbacks.ts';
import { failureFromResponse } from './errors.ts';
import { hasValidMetaSignature } from './signature.ts';
import { parseMetaTemplate } from './templates.ts';
import type { Message, MessagingOptions, MessagingProvider, SendResult, TemplatesResult } from '../messaging.ts';
import { fillParameters, type FilledParameter } from '../template-parameters.ts';
import { tryParseJson } from '../../../library/json/json.ts';
import { stripPlus, checkText } from '../parse-fields.ts';
import { isApproved, type Template } from '../templates.ts';
import { percentEncoded } from '../../../library/text/clean-text.ts';

export interface MetaAccount {
  phoneNumberId: string;
  accessToken: string;
  wabaId: string;
  /** The secret of the app that sends the webhooks; without it no signature can be checked. */
  appSecret?: string;
}

const provider = 'Meta';
const maxTextLength = 4096;
const maxKeyLength = 512;
const pageSize = '100';
const templateFields = 'id,name,status,category,language,components,parameter_format';

/** The WhatsApp Cloud API of Meta (https://developers.facebook.com/documentation/business-messaging/whatsapp). */
export function metaMessaging(account: MetaAccount, options: MessagingOptions): MessagingProvider {
  const { accessToken } = account;
  const { runtime = systemRuntime } = options;
  const exchange = createProviderExchange(provider, options);
  const base = options.metaBaseUrl.replace(/\/+$/, '');
  const authorization = { authorization: `Bearer ${accessToken}` };

  return {
    provider: 'provider_b',

    async listTemplates(): Promise<TemplatesResult> {
      const templates: Template[] = [];
      const seen = new Set<string>();
      for (let after: string | undefined, page = 0; page < maxPages; page++) {
        const query = new URLSearchParams({
          fields: templateFields,
          status: 'APPROVED',
          limit: pageSize,
          ...(after !== undefined && { after }),
        });
        const url = `${base}/${percentEncoded(account.wabaId)}/message_templates?${query}`;
        const answer = await exchange.read({ url, headers: authorization });
        const failure = failureFromResponse(answer, { now: runtime.now(), isSend: false }, accessToken);
        if (failure) return failure;
        if ('unreachable' in answer || !Array.isArray(answer.body?.['data'])) return unexpectedListResponse(provider);
        templates.push(...answer.body['data'].flatMap((listed) => parseMetaTemplate(listed) ?? []));
        after = nextCursor(answer.body['paging']);
        if (after === undefined) return { templates: templates.filter(({ status }) => isApproved(status)) };
        if (seen.has(after)) break;
        seen.add(after);
      }
      return unexpectedListResponse(provider);
    },

    async send(message): Promise<SendResult> {
      const content = toMessageContent(message);
      if ('failure' in content) return content;
      const answer = await exchange.send({
        url: `${base}/${percentEncoded(account.phoneNumberId)}/messages`,
        headers: { ...authorization, 'content-type': 'application/json' },
        body: JSON.stringify({
          messaging_product: 'whatsapp',
          recipient_type: 'individual',
          to: stripPlus(message.to),
          ...content,
          biz_opaque_callback_data: message.key.slice(0, maxKeyLength),
        }),
      });
      const failure = failureFromResponse(answer, { now: runtime.now(), isSend: true }, accessToken);
      if (failure) return failure;
      const sent: unknown = 'unreachable' in answer || !Array.isArray(answer.body?.['messages']) ? undefined : answer.body['messages'][0];
      if (!isRecord(sent) || typeof sent['id'] !== 'string' || sent['id'] === '') return unexpectedSendResponse(provider);
      const status = sent['message_status'];
      return { messageId: sent['id'], status: typeof status === 'string' && status !== '' ? status : 'accepted' };
    },

    readCallback({ headers, body }) {
      const { appSecret } = account;
      if (appSecret && !hasValidMetaSignature(body, headers.get('x-hub-signature-256'), appSecret)) return { isUnsigned: true };
      return { events: readMetaWebhook(tryParseJson(body), runtime.now(), accessToken) };
    },
  };
}

/** The cursor of the next page; undefined on the last one. */
function nextCursor(paging: unknown): string | undefined {
  if (!isRecord(paging) || typeof paging['next'] !== 'string' || !isRecord(paging['cursors'])) return undefined;
  const { after } = paging['cursors'];
  return typeof after === 'string' && after !== '' ? after : undefined;
}

function toMessageContent(message: Message) {
  if ('text' in message) {
    const { text } = message;
    return checkText(text, maxTextLength) ?? { type: 'text', text: { body: text, preview_url: false } };
  }
  const { template, params } = message;
  const reading = fillParameters(template, params);
  if ('failure' in reading) return reading;
  const components = toTemplateComponents(reading.filled, template.isNamed);
  return {
    type: 'template',
    template: { name: template.name, language: { code: template.language }, ...(components.length > 0 && { components }) },
  };
}

function toTemplateComponents(filled: FilledParameter[], isNamed: boolean): object[] {
  const parametersIn = (place: 'header' | 'body') =>
    filled.filter((parameter) => parameter.place === place).map((parameter) => toParameterValue(parameter, isNamed));
  const texts = (['header', 'body'] as const)
    .map((type) => ({ type, parameters: parametersIn(type) }))
    .filter(({ parameters }) => parameters.length > 0);
  const buttons = filled
    .filter(({ place }) => place === 'button')
    .map(({ index, value, isCode }) => ({
      type: 'button',
      sub_type: isCode ? 'copy_code' : 'url',
      index: String(index),
      parameters: [isCode ? { type: 'coupon_code', coupon_code: value } : { type: 'text', text: value }],
    }));
  return [...texts, ...buttons];
}

function toParameterValue({ name, kind, value }: FilledParameter, isNamed: boolean): object {
  if (kind !== 'text') return { type: kind, [kind]: { link: value } };
  return { type: 'text', ...(isNamed && { parameter_name: name }), text: value };
}
