import { z } from '@hono/zod-openapi';
import { queryId, timestamp } from '../http/area.ts';
import { listOf, pageQuery } from '../http/pagination.ts';
import { providerKeys } from './credential-fields.ts';

const credential = z.string('Must be text').nullish();
const hidden = credential.openapi({ description: 'Shown as a mask; the mask sent back keeps it' });

const blocks = {
  provider_a: z.strictObject({
    api_endpoint: credential.openapi({ example: 'https://live-mt-server.wati.io/12345' }),
    api_token: hidden,
  }),
  provider_b: z.strictObject({
    phone_number_id: credential,
    access_token: hidden,
    waba_id: credential,
    app_secret: hidden.openapi({ description: 'Optional: checks the signatures of webhooks. Shown as a mask' }),
  }),
  provider_c: z.strictObject({ api_key: hidden, source: credential.openapi({ example: '917834811114' }), app_name: credential }),
  provider_d: z.strictObject({
    account_sid: credential,
    auth_token: hidden,
    from_number: credential.openapi({ example: '+15005550006' }),
    use_telephony_credentials: z
      .boolean('Must be true or false')
      .nullish()
      .openapi({ description: 'Sends with the account of the Twilio telephony configuration' }),
    content_sid: credential.openapi({ description: 'Optional: the template where none is named' }),
  }),
};

const blockDescription = 'Absent fields stay; null for all of it takes the credentials away';

export const MessagingConfigBody = z
  .object({
    messaging_app: z
      .looseObject({
        provider: z
          .string('Must be text')
          .nullish()
          .openapi({ description: 'Which one sends; left out, it stays; empty or null: none', example: 'provider_b' }),
        provider_a: blocks.provider_a.nullish().openapi({ description: `WATI. ${blockDescription}` }),
        provider_b: blocks.provider_b.nullish().openapi({ description: `Meta. ${blockDescription}` }),
        provider_c: blocks.provider_c.nullish().openapi({ description: `Gupshup. ${blockDescription}` }),
        provider_d: blocks.provider_d.nullish().openapi({ description: `Twilio. ${blockDescription}` }),
      })
      .optional(),
  })
  .openapi('MessagingConfigPatch');
export type MessagingConfigBody = z.output<typeof MessagingConfigBody>;

const shownText = z.string().nullable();
const shownSecret = shownText.openapi({ example: '****7f3a' });

export const MessagingConfigRecord = z
  .object({
    messaging_app: z.object({
      provider: z.string().openapi({ description: 'Empty: none is selected' }),
      provider_a: z.object({ api_endpoint: shownText, api_token: shownSecret }).nullable(),
      provider_b: z
        .object({ phone_number_id: shownText, access_token: shownSecret, waba_id: shownText, app_secret: shownSecret })
        .nullable(),
      provider_c: z.object({ api_key: shownSecret, source: shownText, app_name: shownText }).nullable(),
      provider_d: z
        .object({
          account_sid: shownText,
          auth_token: shownSecret,
          from_number: shownText,
          use_telephony_credentials: z.boolean(),
          content_sid: shownText,
        })
        .nullable(),
    }),
    callback_urls: z.object({ provider_a: z.url(), provider_b: z.url(), provider_c: z.url(), provider_d: z.url() }).openapi({
      description:
        'Where each provider is to tell what becomes of messages. Register it there and keep it to yourself; Meta also asks for a verify token, ' +
        'which is the last part of its address. Twilio is told with each message',
    }),
  })
  .openapi('MessagingConfig');

const kind = z.enum(['template', 'text']);
const parameter = z.union([z.string(), z.number(), z.boolean()], 'Must be text, a number, or true or false');

export const TestMessageBody = z
  .object({
    to: z.string('Must be text').min(1, 'Must not be empty').openapi({ description: 'Any usual spelling', example: '+14155550123' }),
    kind: kind.default('template'),
    template_name: z
      .string('Must be text')
      .trim()
      .nullish()
      .openapi({ description: 'Its name, or its id at the provider', example: 'order_update' }),
    language: z
      .string('Must be text')
      .trim()
      .nullish()
      .openapi({ description: 'Exactly as the provider writes it; may be left out where there is one alone', example: 'en_US' }),
    template_params: z
      .record(z.string(), parameter)
      .nullish()
      .openapi({ description: 'By number, or by the name of the placeholder', example: { 1: 'Ada', 2: '1001' } }),
    text: z
      .string('Must be text')
      .nullish()
      .openapi({ description: 'Of kind text: goes through where the person has written within 24 hours' }),
  })
  .openapi('TestMessage');
export type TestMessageBody = z.output<typeof TestMessageBody>;

export const TestMessageResult = z
  .object({
    success: z.boolean().openapi({ description: 'Whether the provider has taken it, which does not mean delivered' }),
    provider: z.string(),
    channel: z.literal('messaging_app'),
    message_id: z.string().openapi({ description: "The provider's; empty when there is none" }),
    status: z.string().openapi({ description: "The provider's word, such as accepted or queued; failed; or unknown", example: 'accepted' }),
    error: z.string().nullable(),
  })
  .openapi('TestMessageResult');

export const TemplateList = z
  .object({
    templates: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        language: z.string(),
        category: z.string(),
        status: z.string(),
        body: z.string(),
        placeholders: z.int(),
        parameters: z.array(z.string()).openapi({ description: 'Under which names `template_params` gives their values' }),
        components: z.array(z.unknown()).openapi({ description: 'As the provider has them' }),
      }),
    ),
  })
  .openapi('MessageTemplates');

export const MessageRecord = z
  .object({
    id: z.int(),
    to: z.string(),
    provider: z.string(),
    kind,
    template_name: z.string().nullable(),
    language: z.string().nullable(),
    status: z.string().openapi({
      description: 'sending, sent, delivered, read, failed, unknown, or how the provider calls what it has taken',
      example: 'delivered',
    }),
    error: z.string().nullable(),
    failure_class: z.string().nullable().openapi({ example: 'not_on_channel' }),
    failure_code: z.string().nullable().openapi({ description: "The provider's own", example: '131026' }),
    message_id: z.string().nullable(),
    contact_id: z.int().nullable(),
    automation_run_id: z.int().nullable(),
    history: z.array(z.object({ status: z.string(), at: timestamp, error: z.string().optional() })),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .openapi('Message');
export type MessageRecord = z.output<typeof MessageRecord>;

export const MessageQuery = z.object({
  ...pageQuery,
  status: z.string().max(100).optional(),
  provider: z.enum(providerKeys).optional(),
  to: z.string().max(100).optional().openapi({ description: 'Any usual spelling' }),
  automation_run_id: queryId.optional(),
  contact_id: queryId.optional(),
});
export type MessageQuery = z.output<typeof MessageQuery>;

export const MessageList = listOf('messages', MessageRecord);
