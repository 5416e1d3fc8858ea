import { z } from 'zod';
import { configObject } from '../../../library/json/config-object.ts';
import { normalizePhone } from '../../../library/phone/phone-numbers.ts';
import { isRecord } from '../../../library/json/json.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import { providerKeys } from '../../../messaging/config/credential-fields.ts';
import type { MessageContent, SentMessage } from '../../../messaging/messages/send-message.ts';
import { renderDeep, renderText, type Scope } from '../../../expressions/templates/render.ts';
import { defaultHandle, defineNode, errorHandle, failure, next, simulated, type Step, type StepResult } from '../contract.ts';

const text = z.string().max(10_000);
const scalar = z.union([text, z.number(), z.boolean()]);

const SendMessageData = configObject({
  to: z.string().min(1).max(1000).default('{{ contact.phone }}'),
  template_name: z.string().min(1).max(1000).optional(),
  language: z.string().min(1).max(100).optional(),
  template_params: z.record(z.string(), scalar).default({}),
  text: text.min(1).optional(),
  provider: z.enum(providerKeys).optional(),
}).refine((data) => data.text === undefined || data.template_name === undefined, {
  path: ['text'],
  message: 'Is a message of its own; give either text or template_name',
});

type SendMessageData = z.infer<typeof SendMessageData>;

const sentHandle = 'sent';
const failedHandle = 'failed';

/** Failures that lie with the recipient lead along `failed`. Every other failure has to be corrected, and leads along `error`. */
const recipientFailures: ReadonlySet<string> = new Set([
  'suppressed',
  'contact_policy',
  'not_on_channel',
  'window_closed',
  'opted_out',
  'rate_limited',
  'unknown',
]);

/**
 * A repeat after a crash finds the message in the log, by the key of the attempt. A sent message is not sent again; a message whose outcome
 * is unknown fails the step as `unknown`.
 */
export const sendMessageNode = defineNode<SendMessageData>({
  type: 'send_message',
  label: 'Message',
  description:
    "Sends the approved template `template_name` in `language` to the contact, or to `to`, through the selected messaging provider or `provider`, outside the workflow's quiet hours and when the contact policy allows it; `template_params` gives its placeholders by number or name. `text` instead of a template reaches whoever has written within 24 hours. It goes on at `sent` once the provider has taken the message, which does not mean delivered: `GET /organizations/messages` tells what becomes of it. A number that must not be written to, that the contact policy skips, that is not on the channel, whose window is closed or that has opted out leads along `failed` with the reason; what leads nowhere goes on at `default`. Trouble that passes is tried again. A missing configuration, template or parameter, and a message of which nobody can say whether it was sent (`unknown`), lead along `error`.",
  dataSchema: SendMessageData,
  handles: () => [sentHandle, failedHandle, defaultHandle, errorHandle],
  isSideEffect: true,
  respectsQuietHours: () => true,
  needsContact: true,
  example: {
    template_name: 'order_update',
    language: 'en',
    template_params: { 1: '{{ contact.first_name | default: "there" }}', 2: '{{ data.order_id }}' },
  },
  run: async (step) => {
    const { data, scope } = step;
    const raw = renderText(data.to, scope).trim();
    if (raw === '') return failure('no_phone', `to: ${JSON.stringify(data.to)} gives no number; a run without contact needs a number`);
    const reading = normalizePhone(raw, step.organization.default_country);
    if (!('phone' in reading)) return failure('invalid_phone', `to: ${reading.detail}`);
    const content = toContent(data, scope);
    if ('problem' in content) return failure('template_params', content.problem);
    const request = { provider: data.provider ?? null, to: reading.phone, ...describeContent(content) };
    if (step.dryRun) return { ...simulated(request), handle: sentHandle, fallbackHandle: defaultHandle };
    return send(step, reading.phone, content, request);
  },
});

async function send(step: Step<SendMessageData>, to: string, content: MessageContent, request: object): Promise<StepResult> {
  const { data, quietHoursStart, unaskedTries } = step;
  const sent = await step.effects.sendMessage(step.key, { to, content, provider: data.provider, notAfter: quietHoursStart, unaskedTries });
  return toStepResult(sent, { ...request, message: sent.id, provider: sent.provider }, step.now);
}

function toStepResult(sent: SentMessage, request: object, now: number): StepResult {
  if ('messageId' in sent)
    return next({ ...request, status: sent.status, message_id: sent.messageId, reason: null }, sentHandle, defaultHandle);
  const { failure: kind, message, retryable, retryAfterSeconds, outcomeUnknown, code, until = now } = sent.failure;
  if (kind === 'contact_policy_hold') return { kind: 'hold', until, output: { ...request, until: toTimestamp(until), why: message } };
  if (outcomeUnknown) return failure('unknown', message);
  if (retryable) return { kind: 'fail', type: kind, message, retryable, retryAfterSeconds };
  if (recipientFailures.has(kind))
    return next(
      { ...request, status: 'failed', message_id: null, reason: message, failure_class: kind, failure_code: code },
      failedHandle,
      defaultHandle,
    );
  return failure(kind === 'not_configured' ? 'messaging_not_configured' : kind, message);
}

function toContent(data: SendMessageData, scope: Scope): MessageContent | { problem: string } {
  if (data.text !== undefined) return { kind: 'text', text: renderText(data.text, scope) };
  const params: Record<string, string> = {};
  for (const [name, value] of Object.entries(renderDeep(data.template_params, scope) as Record<string, unknown>)) {
    if (Array.isArray(value) || isRecord(value))
      return { problem: `template_params["${name}"] gives ${Array.isArray(value) ? 'a list' : 'an object'}; give one text` };
    params[name] = String(value ?? '');
  }
  const rendered = (template: string | undefined) => (template === undefined ? '' : renderText(template, scope).trim());
  return { kind: 'template', templateName: rendered(data.template_name), language: rendered(data.language), params };
}

const describeContent = (content: MessageContent): object =>
  content.kind === 'text'
    ? content
    : { kind: content.kind, template_name: content.templateName, language: content.language, template_params: content.params };
