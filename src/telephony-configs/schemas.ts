import { z } from '@hono/zod-openapi';
import { bodyId, createdAt, updatedAt } from '../http/router.ts';
import { listSchema, pageQuery } from '../http/pagination.ts';

const maxNumbers = 500;

/** What a configuration has where nothing else is said. */
export const configDefaults = { calls_per_second: 1, machine_detection: true };

const provider = z.enum(['twilio', 'telnyx']).describe('The carrier whose account it is.');
const credentialInput = z.string('Must be text').nullish();
const secretInput = (meaning: string) =>
  credentialInput.describe(
    `${meaning} A secret: stored encrypted, read as \`****\` and its last 4 characters. That mask sent back keeps it.`,
  );
const meanings = {
  account_sid: 'The account SID of Twilio, which begins with `AC`.',
  auth_token: 'The auth token of the Twilio account.',
  api_key: 'An API key of the Telnyx account.',
  connection_id: 'The id of the Voice API application at Telnyx.',
  public_key: 'The public key of the Telnyx account, by which the signatures of its webhooks are checked.',
  from_numbers: 'The numbers that calls come from, and calls to which are taken. Written in any usual spelling, stored as E.164.',
  inbound_workflow_id: 'The voice agent that takes calls to these numbers; null: none does.',
  is_default: 'Whether outbound calls use this configuration. One alone is the default: the first, until another becomes it.',
  calls_per_second: 'How many calls the carrier lets the account begin in a second; 1 when left out.',
  machine_detection: 'Whether the carrier is to tell answering machines from people; true when left out.',
};

const twilio = z.strictObject({
  account_sid: credentialInput.describe(meanings.account_sid),
  auth_token: secretInput(meanings.auth_token),
});
const telnyx = z.strictObject({
  api_key: secretInput(meanings.api_key),
  connection_id: credentialInput.describe(meanings.connection_id),
  public_key: credentialInput.describe(meanings.public_key),
});
const name = z.string().trim().min(1, 'Must not be empty').max(200, 'Must have 200 characters or fewer').describe('Name for people.');

const fields = {
  twilio: twilio.nullish().describe('Credentials of Twilio; needed with that provider. Absent fields stay.'),
  telnyx: telnyx.nullish().describe('Credentials of Telnyx; needed with that provider. Absent fields stay.'),
  from_numbers: z
    .array(z.string('Must be text').max(100))
    .min(1, 'Must have at least one number; calls are placed from it')
    .max(maxNumbers, `At most ${maxNumbers} numbers in one configuration; make another for the rest`)
    .describe(meanings.from_numbers),
  inbound_workflow_id: bodyId.nullish().describe(meanings.inbound_workflow_id),
  is_default: z.boolean().optional().describe(meanings.is_default),
  calls_per_second: z
    .int()
    .min(1, 'Must be 1 or more')
    .max(1000, 'Must be 1000 or less')
    .nullish()
    .openapi({ description: meanings.calls_per_second, default: configDefaults.calls_per_second }),
  machine_detection: z.boolean().nullish().openapi({ description: meanings.machine_detection, default: configDefaults.machine_detection }),
};

export const NewTelephonyConfigBody = z.object({ name, provider, ...fields }).openapi('NewTelephonyConfig');
export const TelephonyConfigPatchBody = z
  .object({ name: name.optional(), provider: provider.optional(), ...fields, from_numbers: fields.from_numbers.optional() })
  .openapi('TelephonyConfigPatch');

export type NewTelephonyConfig = z.output<typeof NewTelephonyConfigBody>;
export type TelephonyConfigPatch = z.output<typeof TelephonyConfigPatchBody>;

const shownField = (meaning: string) => z.string().describe(meaning);
const shownSecret = (meaning: string) => z.string().describe(`${meaning} Shown as \`****\` and its last 4 characters.`);

export const TelephonyConfigRecord = z
  .object({
    id: z.int().describe('Id of the configuration.'),
    name: z.string().describe('Name for people.'),
    provider,
    twilio: z
      .object({ account_sid: shownField(meanings.account_sid), auth_token: shownSecret(meanings.auth_token) })
      .nullable()
      .describe('Credentials of Twilio; null with another provider.'),
    telnyx: z
      .object({
        api_key: shownSecret(meanings.api_key),
        connection_id: shownField(meanings.connection_id),
        public_key: shownField(meanings.public_key),
      })
      .nullable()
      .describe('Credentials of Telnyx; null with another provider.'),
    from_numbers: z.array(z.string()).describe('The numbers that calls come from, in E.164.'),
    inbound_workflow_id: z.int().nullable().describe(meanings.inbound_workflow_id),
    inbound_url: z.string().describe('Where the carrier is to send calls to these numbers: set it there as their webhook.'),
    is_default: z.boolean().describe(meanings.is_default),
    calls_per_second: z.int().describe('How many calls the carrier lets the account begin in a second.'),
    machine_detection: z.boolean().describe('Whether the carrier tells answering machines from people.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('An account at a carrier, and its numbers.')
  .openapi('TelephonyConfig');

export const TelephonyConfigQuery = z.object({
  ...pageQuery,
  search: z.string().max(200).optional().describe('Part of the name.'),
});
export const TelephonyConfigList = listSchema('telephony_configs', TelephonyConfigRecord);
