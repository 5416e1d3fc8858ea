import { z } from '@hono/zod-openapi';
import { createdAt, queryId, timestamp, updatedAt } from '../http/router.ts';
import { listSchema, pageQuery } from '../http/pagination.ts';
import { providerKeys } from './config/credential-fields.ts';

const credential = z.string('Must be text').nullish();
const secret = (meaning: string) =>
  credential.describe(`${meaning} A secret: stored encrypted, read as \`****\` and its last 4 characters. That mask sent back keeps it.`);

/** What each credential is; the descriptions of the fields that are written and of those that are read. */
const descriptions = {
  api_endpoint: 'The address of your WATI account, such as `https://live-mt-server.wati.io/12345`.',
  api_token: 'The access token of the WATI account.',
  phone_number_id: "Meta's id of the sending phone number, digits alone. It is not the number itself.",
  access_token: 'The access token of a system user at Meta.',
  waba_id: 'The id of the WhatsApp Business account, digits alone.',
  app_secret: 'Optional: the secret of the Meta app, by which the signatures of delivery reports are checked.',
  api_key: 'The API key of the Gupshup account.',
  source: 'The sending number with its country code, such as `917834811114`.',
  app_name: 'The name of the Gupshup app.',
  app_id: 'Optional: the id of the Gupshup app, a UUID, by which its templates are listed.',
  account_sid: 'The account SID of Twilio, which begins with `AC`.',
  auth_token: 'The auth token of the Twilio account.',
  from_number: 'The sending number in E.164, or the SID of a messaging service.',
  use_telephony_credentials: 'True: account and token are those of the Twilio telephony configuration; false: those that stand here.',
  content_sid: 'Optional: the SID of the template that is sent where none is named.',
};
const shownText = (meaning: string) => z.string().nullable().describe(`${meaning} null: not given.`);
const shownSecret = (meaning: string) =>
  z.string().nullable().describe(`${meaning} Shown as \`****\` and its last 4 characters; null: not given.`);

const credentialSchemas = {
  provider_a: z.strictObject({ api_endpoint: credential.describe(descriptions.api_endpoint), api_token: secret(descriptions.api_token) }),
  provider_b: z.strictObject({
    phone_number_id: credential.describe(descriptions.phone_number_id),
    access_token: secret(descriptions.access_token),
    waba_id: credential.describe(descriptions.waba_id),
    app_secret: secret(descriptions.app_secret),
  }),
  provider_c: z.strictObject({
    api_key: secret(descriptions.api_key),
    source: credential.describe(descriptions.source),
    app_name: credential.describe(descriptions.app_name),
    app_id: credential.describe(descriptions.app_id),
  }),
  provider_d: z.strictObject({
    account_sid: credential.describe(descriptions.account_sid),
    auth_token: secret(descriptions.auth_token),
    from_number: credential.describe(descriptions.from_number),
    use_telephony_credentials: z.boolean('Must be true or false').nullish().describe(descriptions.use_telephony_credentials),
    content_sid: credential.describe(descriptions.content_sid),
  }),
};

const blockDescription = 'Absent fields stay; null for all of it takes the credentials away.';

export const MessagingConfigBody = z
  .object({
    messaging_app: z
      .looseObject({
        provider: z
          .string('Must be text')
          .nullish()
          .openapi({ enum: [...providerKeys, '', null] })
          .describe('Which provider sends. Left out, it stays; empty or null: none.'),
        provider_a: credentialSchemas.provider_a.nullish().describe(`Credentials of WATI. ${blockDescription}`),
        provider_b: credentialSchemas.provider_b.nullish().describe(`Credentials of Meta's Cloud API. ${blockDescription}`),
        provider_c: credentialSchemas.provider_c.nullish().describe(`Credentials of Gupshup. ${blockDescription}`),
        provider_d: credentialSchemas.provider_d.nullish().describe(`Credentials of Twilio. ${blockDescription}`),
      })
      .optional()
      .describe('The WhatsApp channel. Left out, nothing changes.'),
  })
  .openapi('MessagingConfigPatch');
export type MessagingConfigBody = z.output<typeof MessagingConfigBody>;

const callbackUrl = (provider: string) => z.url().describe(`Where ${provider} reports deliveries.`);

export const MessagingConfigRecord = z
  .object({
    messaging_app: z
      .object({
        provider: z.string().describe('Which provider sends: `provider_a` to `provider_d`; empty: none.'),
        provider_a: z
          .object({ api_endpoint: shownText(descriptions.api_endpoint), api_token: shownSecret(descriptions.api_token) })
          .nullable()
          .describe('Credentials of WATI; null: none are stored.'),
        provider_b: z
          .object({
            phone_number_id: shownText(descriptions.phone_number_id),
            access_token: shownSecret(descriptions.access_token),
            waba_id: shownText(descriptions.waba_id),
            app_secret: shownSecret(descriptions.app_secret),
          })
          .nullable()
          .describe("Credentials of Meta's Cloud API; null: none are stored."),
        provider_c: z
          .object({
            api_key: shownSecret(descriptions.api_key),
            source: shownText(descriptions.source),
            app_name: shownText(descriptions.app_name),
            app_id: shownText(descriptions.app_id),
          })
          .nullable()
          .describe('Credentials of Gupshup; null: none are stored.'),
        provider_d: z
          .object({
            account_sid: shownText(descriptions.account_sid),
            auth_token: shownSecret(descriptions.auth_token),
            from_number: shownText(descriptions.from_number),
            use_telephony_credentials: z.boolean().describe(descriptions.use_telephony_credentials),
            content_sid: shownText(descriptions.content_sid),
          })
          .nullable()
          .describe('Credentials of Twilio; null: none are stored.'),
      })
      .describe('The WhatsApp channel.'),
    callback_urls: z
      .object({
        provider_a: callbackUrl('WATI'),
        provider_b: callbackUrl('Meta'),
        provider_c: callbackUrl('Gupshup'),
        provider_d: callbackUrl('Twilio'),
      })
      .nullable()
      .describe(
        'Null unless an admin asks, since each holds a secret token. Where each provider is to report what becomes of messages. Register it there and keep it to yourself; Meta also asks for a verify ' +
          'token, which is the last part of its address. Twilio gets it with each message.',
      ),
  })
  .describe('How the organization sends messages. Secrets are masked.')
  .openapi('MessagingConfig');

const kind = z.enum(['template', 'text']).describe('`template`: a message that the provider has approved beforehand; `text`: free words.');
const parameter = z.union([z.string(), z.number(), z.boolean()], 'Must be text, a number, or true or false');

export const TestMessageBody = z
  .object({
    to: z.string('Must be text').min(1, 'Must not be empty').describe('Phone number of the person who gets it, in any usual spelling.'),
    kind: kind.default('template'),
    template_name: z
      .string('Must be text')
      .trim()
      .nullish()
      .describe('The template: its name, or its id at the provider. Required with `kind` `template`.'),
    language: z
      .string('Must be text')
      .trim()
      .nullish()
      .describe(
        'Language of the template, exactly as the provider writes it, such as `en_US`. May be left out where the template has one alone.',
      ),
    template_params: z
      .record(z.string(), parameter)
      .nullish()
      .describe('What stands in for the placeholders of the template, by number (`"1"`) or by name.'),
    text: z
      .string('Must be text')
      .nullish()
      .describe('The words of a message of `kind` `text`. It goes through where the person has written to you within 24 hours.'),
  })
  .openapi('TestMessage');
export type TestMessageBody = z.output<typeof TestMessageBody>;

const status =
  'Where it stands: `sending`, `sent`, `delivered`, `read`, `failed`, `unknown`, or the word of the provider for what it has taken, such as `accepted`.';

export const TestMessageResult = z
  .object({
    success: z.boolean().describe('Whether the provider has taken the message, which does not mean that it was delivered.'),
    provider: z.string().describe('The provider that was asked: `provider_a` to `provider_d`; empty when none is selected.'),
    channel: z.literal('messaging_app').describe('Always `messaging_app`.'),
    message_id: z.string().describe("The provider's id of the message; empty when there is none."),
    status: z.string().describe(status),
    error: z.string().nullable().describe('Why it was not sent and what to do; null when it was.'),
  })
  .describe('What the provider said of the test message. A message that could not be sent is an answer as well, with `success` false.')
  .openapi('TestMessageResult');

export const TemplateList = z
  .object({
    templates: z
      .array(
        z.object({
          id: z.string().describe("The provider's id of the template."),
          name: z.string().describe('Its name, for `template_name`.'),
          language: z.string().describe('Its language, as the provider writes it.'),
          category: z.string().describe('What it is for, in the word of the provider, such as `UTILITY` or `MARKETING`.'),
          status: z.string().describe('Its state at the provider. Only approved ones are listed.'),
          body: z.string().describe('Its text, with placeholders such as `{{1}}`.'),
          placeholders: z.int().describe('How many values it needs.'),
          parameters: z.array(z.string()).describe('The names under which `template_params` gives these values.'),
          unfillable: z
            .array(z.string())
            .describe('Parts of it for which a message can give no values, such as `carousel`. With any, it is refused before it is sent.'),
          components: z.array(z.unknown()).describe('Its parts (header, body, buttons) as the provider has them.'),
        }),
      )
      .describe('The templates that can be sent.'),
  })
  .describe('The approved templates of the selected provider.')
  .openapi('MessageTemplates');

export const MessageRecord = z
  .object({
    id: z.int().describe('Id of the message in this log.'),
    to: z.string().describe('Phone number of the person who gets it, in E.164.'),
    provider: z.string().describe('The provider that sends it: `provider_a` to `provider_d`.'),
    kind,
    template_name: z.string().nullable().describe('The template; null with `kind` `text`.'),
    language: z.string().nullable().describe('Language of the template; null when none was named.'),
    status: z.string().describe(status),
    error: z.string().nullable().describe('Why it failed and what to do; null when it did not.'),
    failure_class: z
      .string()
      .nullable()
      .describe(
        'What the failure is about, in words that are the same for all providers: `auth`, `not_on_channel`, `window_closed`, `template_missing`, ' +
          '`template_params`, `template_paused`, `opted_out`, `rate_limited`, `media`, `balance`, `provider_down`, `contact_policy` or `unknown`; null without a failure.',
      ),
    failure_code: z.string().nullable().describe("The provider's own code of the failure, such as `131026`; null when it gave none."),
    message_id: z.string().nullable().describe("The provider's id of the message; null when it has not taken it."),
    contact_id: z.int().nullable().describe('The contact with this number when it was sent; null: none.'),
    automation_run_id: z.int().nullable().describe('The journey run that sent it; null: a test message.'),
    history: z
      .array(
        z.object({
          status: z.string().describe('What it became.'),
          at: timestamp.describe('When, ISO 8601 in UTC.'),
          error: z.string().optional().describe('Why it failed; absent when it did not.'),
        }),
      )
      .describe('How `status` came about, oldest first.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('A message that was sent, and what became of it.')
  .openapi('Message');
export type MessageRecord = z.output<typeof MessageRecord>;

export const MessageQuery = z.object({
  ...pageQuery,
  status: z.string().max(100).optional().describe('Only messages with this status.'),
  provider: z.enum(providerKeys).optional().describe('Only messages of this provider.'),
  to: z.string().max(100).optional().describe('Only messages to this phone number, in any usual spelling.'),
  automation_run_id: queryId.optional().describe('Only messages of this journey run.'),
  contact_id: queryId.optional().describe('Only messages to this contact.'),
});
export type MessageQuery = z.output<typeof MessageQuery>;

export const MessageList = listSchema('messages', MessageRecord);
