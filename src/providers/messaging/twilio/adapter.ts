import { isRecord } from '../../../library/json/json.ts';
import { systemRuntime } from '../../http/runtime.ts';
import { createProviderExchange, maxPages, unexpectedSendResponse, unexpectedListResponse, type ProviderResponse } from '../exchange.ts';
import type { Message, MessagingOptions, MessagingProvider, SendResult, TemplatesResult } from '../messaging.ts';
import { fillParameters } from '../template-parameters.ts';
import { isApproved, type Template } from '../templates.ts';
import { checkText } from '../parse-fields.ts';
import { parseTwilioTemplate } from './templates.ts';
import { readTwilioMessageCallback } from './callbacks.ts';
import { failureFromResponse } from './errors.ts';
import { percentEncoded } from '../../../library/text/clean-text.ts';

export interface TwilioMessagingAccount {
  accountSid: string;
  authToken: string;
  /** E.164, with or without `whatsapp:`, or the sid of a messaging service. */
  fromNumber: string;
}

const provider = 'Twilio';
const channelPrefix = 'whatsapp:';
const maxTextLength = 1600;
const pageSize = '100';

/** Messages and contents of Twilio (https://www.twilio.com/docs/messaging/api/message-resource, https://www.twilio.com/docs/content). */
export function twilioMessaging(account: TwilioMessagingAccount, options: MessagingOptions): MessagingProvider {
  const { accountSid, authToken } = account;
  const { runtime = systemRuntime } = options;
  const exchange = createProviderExchange(provider, options);
  const messages = `${options.twilioBaseUrl.replace(/\/+$/, '')}/2010-04-01/Accounts/${percentEncoded(accountSid)}/Messages.json`;
  const contents = `${options.twilioContentBaseUrl.replace(/\/+$/, '')}/v1/ContentAndApprovals?PageSize=${pageSize}`;
  const authorization = { authorization: `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}` };
  const failureOf = (answer: ProviderResponse, isSend: boolean) => failureFromResponse(answer, { now: runtime.now(), isSend }, authToken);

  return {
    provider: 'provider_d',

    async listTemplates(): Promise<TemplatesResult> {
      const templates: Template[] = [];
      const seen = new Set<string>();
      for (let url: string | null = contents; url !== null;) {
        // The credentials are sent to this host only, whatever the answer says.
        if (seen.has(url) || seen.size >= maxPages || new URL(url).origin !== new URL(contents).origin)
          return unexpectedListResponse(provider);
        seen.add(url);
        const answer: ProviderResponse = await exchange.read({ url, headers: authorization });
        const failure = failureOf(answer, false);
        if (failure) return failure;
        const body: Record<string, unknown> = ('unreachable' in answer ? undefined : answer.body) ?? {};
        if (!Array.isArray(body['contents'])) return unexpectedListResponse(provider);
        templates.push(...body['contents'].flatMap((listed) => parseTwilioTemplate(listed) ?? []));
        const next: unknown = isRecord(body['meta']) ? body['meta']['next_page_url'] : null;
        url = typeof next === 'string' && URL.canParse(next, url) ? new URL(next, url).href : null;
      }
      return { templates: templates.filter(({ status }) => isApproved(status)) };
    },

    async send(message): Promise<SendResult> {
      const content = toContentFields(message);
      if ('failure' in content) return content;
      const form = new URLSearchParams({ ...toSenderFields(account.fromNumber), To: channelPrefix + message.to });
      for (const [name, value] of Object.entries(content)) form.append(name, value);
      if (message.callbackUrl !== undefined) form.append('StatusCallback', message.callbackUrl);
      const answer = await exchange.send({
        url: messages,
        headers: { ...authorization, 'content-type': 'application/x-www-form-urlencoded' },
        body: form.toString(),
      });
      const failure = failureOf(answer, true);
      if (failure) return failure;
      const body = 'unreachable' in answer ? undefined : answer.body;
      const [sid, status] = [body?.['sid'], body?.['status']];
      if (typeof sid !== 'string' || sid === '') return unexpectedSendResponse(provider);
      return { messageId: sid, status: typeof status === 'string' && status !== '' ? status : 'queued' };
    },

    readCallback: (request) => readTwilioMessageCallback(request, runtime.now(), authToken),
  };
}

function toSenderFields(fromNumber: string): Record<string, string> {
  const plain = fromNumber.trim().replace(/^whatsapp:/i, '');
  return /^MG[0-9a-f]{32}$/i.test(plain) ? { MessagingServiceSid: plain } : { From: channelPrefix + plain };
}

function toContentFields(message: Message) {
  if ('text' in message) return checkText(message.text, maxTextLength) ?? { Body: message.text };
  const reading = fillParameters(message.template, message.params);
  if ('failure' in reading) return reading;
  const variables = Object.fromEntries(reading.filled.map(({ name, value }) => [name, value]));
  return { ContentSid: message.template.id, ...(reading.filled.length > 0 && { ContentVariables: JSON.stringify(variables) }) };
}
