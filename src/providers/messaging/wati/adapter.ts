import { isRecord } from '../../../library/json/json.ts';
import { blockedRequestReason, type UrlPolicy } from '../../http/url-policy.ts';
import { systemRuntime } from '../../http/runtime.ts';
import { createProviderExchange, maxPages, unexpectedSendResponse, unexpectedListResponse, type ProviderResponse } from '../exchange.ts';
import { localFailure, type MessagingFailure } from '../failures.ts';
import type { MessagingOptions, MessagingProvider, SendResult, TemplateMessage, TemplatesResult, TextMessage } from '../messaging.ts';
import { fillParameters } from '../template-parameters.ts';
import { isApproved, type Template } from '../templates.ts';
import { tryParseJson } from '../../../library/json/json.ts';
import { stripPlus, checkText } from '../parse-fields.ts';
import { readWatiWebhook } from './callbacks.ts';
import { firstReceiver, failureFromResponse } from './errors.ts';
import { parseWatiTemplate } from './templates.ts';

export interface WatiAccount {
  /** The address that WATI shows, with the tenant: https://live-mt-server.wati.io/12345. */
  apiEndpoint: string;
  /** With or without the prefix Bearer. */
  apiToken: string;
}

const provider = 'WATI';
const pageSize = 200;
const maxTextLength = 4096;
/** Directly below the host: the token has the tenant. */
const v3TemplatesPath = '/api/ext/v3/messageTemplates';

/** The API of WATI (https://docs.wati.io/reference). The address is the customer's, and is called only if the policy allows it. */
export function watiMessaging(account: WatiAccount, options: MessagingOptions): MessagingProvider {
  const { runtime = systemRuntime } = options;
  const exchange = createProviderExchange(provider, options);
  const token = account.apiToken.trim().replace(/^Bearer\s+/i, '');
  const headers = { authorization: `Bearer ${token}` };
  const findEndpoint = () => resolveEndpoint(account.apiEndpoint, options.urlPolicy);
  const failureOf = (answer: ProviderResponse, isSend: boolean) => failureFromResponse(answer, { now: runtime.now(), isSend }, token);

  async function sendTemplate(base: string, { to, key, template, params }: TemplateMessage): Promise<SendResult> {
    const reading = fillParameters(template, params);
    if ('failure' in reading) return reading;
    const parameters = reading.filled.map(({ name, value }) => ({ name, value }));
    const answer = await exchange.send({
      url: `${base}/api/v2/sendTemplateMessage?whatsappNumber=${stripPlus(to)}`,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ template_name: template.name, broadcast_name: key, parameters }),
    });
    if (isForbidden(answer)) return sendByNewerApi(base, { to, key, name: template.name, parameters });
    const failure = failureOf(answer, true);
    if (failure) return failure;
    return toSendResult('unreachable' in answer ? undefined : firstReceiver(answer.body)?.['localMessageId']);
  }

  /** Sends by the newer API, which lets the caller choose the message's id. */
  async function sendByNewerApi(
    base: string,
    message: { to: string; key: string; name: string; parameters: object[] },
  ): Promise<SendResult> {
    const { to, key, name, parameters } = message;
    const recipient = { phone_number: stripPlus(to), local_message_id: key, custom_params: parameters };
    const answer = await exchange.send({
      url: `${withoutTenant(base)}${v3TemplatesPath}/send`,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ template_name: name, broadcast_name: key, recipients: [recipient] }),
    });
    const failure = failureOf(answer, true);
    if (failure) return failure;
    const body = 'unreachable' in answer ? undefined : answer.body;
    return body?.['success'] === true ? toSendResult(key) : unexpectedSendResponse(provider);
  }

  async function listByNewerApi(base: string): Promise<TemplatesResult> {
    const templates: Template[] = [];
    for (let page = 1; page <= maxPages; page++) {
      const answer = await exchange.read({
        url: `${withoutTenant(base)}${v3TemplatesPath}?page_number=${page}&page_size=${pageSize}`,
        headers,
      });
      const failure = failureOf(answer, false);
      if (failure) return failure;
      const body = 'unreachable' in answer ? undefined : answer.body;
      const listed = [body?.['message_templates'], body?.['templates'], body?.['data'], body?.['items']].find(Array.isArray);
      if (listed === undefined) return unexpectedListResponse(provider);
      const found = listed.flatMap((one: unknown) => parseWatiTemplate(toV1Template(one)) ?? []);
      const isNew = found.some(({ id }) => templates.every((one) => one.id !== id));
      templates.push(...found);
      if (listed.length < pageSize || !isNew) return { templates: uniqueTemplates(templates).filter(({ status }) => isApproved(status)) };
    }
    return unexpectedListResponse(provider);
  }

  async function sendText(base: string, { to, text }: TextMessage): Promise<SendResult> {
    const fault = checkText(text, maxTextLength);
    if (fault) return fault;
    const url = `${base}/api/v1/sendSessionMessage/${stripPlus(to)}?${new URLSearchParams({ messageText: text })}`;
    const answer = await exchange.send({ url, headers, body: '' });
    const failure = failureOf(answer, true);
    if (failure) return failure;
    const message = 'unreachable' in answer ? undefined : answer.body?.['message'];
    return toSendResult(isRecord(message) ? (message['localMessageId'] ?? message['id']) : undefined);
  }

  return {
    provider: 'provider_a',

    async listTemplates(): Promise<TemplatesResult> {
      const endpoint = await findEndpoint();
      if ('failure' in endpoint) return endpoint;
      const templates: Template[] = [];
      for (let page = 1; page <= maxPages; page++) {
        const url = `${endpoint.base}/api/v1/getMessageTemplates?pageSize=${pageSize}&pageNumber=${page}`;
        const answer = await exchange.read({ url, headers });
        if (page === 1 && isForbidden(answer)) return listByNewerApi(endpoint.base);
        const failure = failureOf(answer, false);
        if (failure) return failure;
        const listed = 'unreachable' in answer ? undefined : answer.body?.['messageTemplates'];
        if (!Array.isArray(listed)) return unexpectedListResponse(provider);
        templates.push(...listed.flatMap((one) => parseWatiTemplate(one) ?? []));
        // A page may be shorter than requested, and not every answer has the total.
        const link = 'unreachable' in answer ? undefined : answer.body?.['link'];
        const [total, size] = isRecord(link) ? [Number(link['total']), Number(link['pageSize'])] : [NaN, NaN];
        const isLast = listed.length === 0 || (Number.isNaN(total) ? listed.length < pageSize : page * (size || pageSize) >= total);
        if (isLast) return { templates: uniqueTemplates(templates).filter(({ status }) => isApproved(status)) };
      }
      return unexpectedListResponse(provider);
    },

    async send(message) {
      const endpoint = await findEndpoint();
      if ('failure' in endpoint) return endpoint;
      return 'text' in message ? sendText(endpoint.base, message) : sendTemplate(endpoint.base, message);
    },

    // WATI signs no callbacks, so the address must be secret.
    readCallback: ({ body }) => ({ events: readWatiWebhook(tryParseJson(body), runtime.now(), token) }),
  };
}

/** The address without its last part, which is the tenant. */
const withoutTenant = (base: string): string => new URL(base).origin + new URL(base).pathname.replace(/\/[^/]*$/, '');

/** Whether the token may not use this API, so that nothing was done. Tokens with scopes may allow the newer API only. */
const isForbidden = (answer: ProviderResponse): boolean => !('unreachable' in answer) && (answer.status === 401 || answer.status === 403);

/** A template of the newer list, with the field names of the older one. */
function toV1Template(listed: unknown): unknown {
  if (!isRecord(listed)) return listed;
  const params = listed['custom_params'];
  const customParams = Array.isArray(params)
    ? params.filter(isRecord).map((one) => ({ paramName: one['name'] ?? one['paramName'] ?? one['param_name'] }))
    : undefined;
  return { elementName: listed['name'], ...listed, ...(customParams && { customParams }) };
}

const toSendResult = (id: unknown): SendResult =>
  typeof id === 'string' && id !== '' ? { messageId: id, status: 'accepted' } : unexpectedSendResponse(provider);

/** A server that counts pages from another number returns one of them twice. */
const uniqueTemplates = (templates: Template[]): Template[] => [...new Map(templates.map((template) => [template.id, template])).values()];

async function resolveEndpoint(address: string, rules: UrlPolicy): Promise<{ base: string } | MessagingFailure> {
  const url = URL.canParse(address) ? new URL(address) : null;
  const refused = url ? await blockedRequestReason(url, rules) : 'it is not a URL';
  if (url === null || refused !== null)
    return localFailure(
      'auth',
      `The api_endpoint may not be called: ${refused}; give the one that WATI shows, such as https://live-mt-server.wati.io/12345`,
    );
  return { base: `${url.origin}${url.pathname.replace(/\/+$/, '')}` };
}
