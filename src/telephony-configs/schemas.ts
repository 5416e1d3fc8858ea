import { z } from '@hono/zod-openapi';
import { bodyId, createdAt, updatedAt } from '../http/router.ts';
import { carrierKeys, mapCarriers } from '../providers/telephony/registry.ts';
import type { CarrierAdapter } from '../providers/telephony/telephony.ts';
import { listSchema, pageQuery } from '../http/pagination.ts';

const maxNumbers = 500;

/** The default values of a configuration. */
export const configDefaults = { calls_per_second: 1, machine_detection: true };

const provider = z.enum(carrierKeys).describe('The carrier whose account it is.');
const credentialInput = z.string('Must be text').nullish();
const secretInput = (meaning: string) =>
  credentialInput.describe(
    `${meaning} A secret: stored encrypted, read as \`****\` and its last 4 characters. That mask sent back keeps it.`,
  );
const shownField = (meaning: string) => z.string().describe(meaning);
const shownSecret = (meaning: string) => z.string().describe(`${meaning} Shown as \`****\` and its last 4 characters.`);
const meanings = {
  from_numbers: 'The numbers that calls come from, and calls to which are taken. Written in any usual spelling, stored as E.164.',
  inbound_workflow_id: 'The voice agent that takes calls to these numbers; null: none does.',
  is_default: 'Whether outbound calls use this configuration. One alone is the default: the first, until another becomes it.',
  calls_per_second: 'How many calls the carrier lets the account begin in a second; 1 when left out.',
  machine_detection: 'Whether the carrier is to tell answering machines from people; true when left out.',
};

/** The schema of a carrier's credentials in a request. */
export const credentialsInput = ({ name, credentials }: CarrierAdapter) =>
  z
    .strictObject(
      mapValues(credentials, ({ isSecret, description }) => (isSecret ? secretInput(description) : credentialInput.describe(description))),
    )
    .nullish()
    .describe(`Credentials of ${name}; needed with that provider. Absent fields stay.`);

/** The schema of a carrier's credentials in an answer. */
const credentialsRecord = ({ name, credentials }: CarrierAdapter) =>
  z
    .object(mapValues(credentials, ({ isSecret, description }) => (isSecret ? shownSecret(description) : shownField(description))))
    .nullable()
    .describe(`Credentials of ${name}; null with another provider.`);

const mapValues = <From, To>(record: Record<string, From>, change: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

const name = z.string().trim().min(1, 'Must not be empty').max(200, 'Must have 200 characters or fewer').describe('Name for people.');

const fields = {
  ...mapCarriers((_key, adapter) => credentialsInput(adapter)),
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

export const TelephonyConfigRecord = z
  .object({
    id: z.int().describe('Id of the configuration.'),
    name: z.string().describe('Name for people.'),
    provider,
    ...mapCarriers((_key, adapter) => credentialsRecord(adapter)),
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
