import { z } from '@hono/zod-openapi';
import { bodyId, timestamp } from '../../http/area.ts';
import { listOf, pageQuery } from '../../http/pagination.ts';

const mostNumbers = 500;

/** What a configuration has where nothing else is said. */
export const configDefaults = { calls_per_second: 1, machine_detection: true };

const name = z.string().trim().min(1, 'Must not be empty').max(200, 'Must have 200 characters or fewer');
const provider = z.enum(['twilio', 'telnyx']);
const credential = z.string('Must be text').nullish();
const hidden = { description: 'Shown as a mask; the mask sent back keeps it' };

const twilio = z.strictObject({
  account_sid: credential.openapi({ example: `AC${'0'.repeat(31)}1` }),
  auth_token: credential.openapi(hidden),
});
const telnyx = z.strictObject({
  api_key: credential.openapi(hidden),
  connection_id: credential.openapi({ description: 'Of the Voice API application', example: '1494404757140276705' }),
  public_key: credential.openapi({ description: 'Of the account: checks the signatures of its webhooks' }),
});

const fields = {
  twilio: twilio.nullish(),
  telnyx: telnyx.nullish(),
  from_numbers: z
    .array(z.string('Must be text').max(100))
    .min(1, 'Must have at least one number; calls are placed from it')
    .max(mostNumbers, `At most ${mostNumbers} numbers in one configuration; make another for the rest`)
    .openapi({ description: 'Any usual spelling; stored as E.164', example: ['+15005550006'] }),
  inbound_workflow_id: bodyId.nullish().openapi({ description: 'The agent that takes calls to these numbers; null: none does' }),
  is_default: z
    .boolean()
    .optional()
    .openapi({ description: 'Outbound calls use the default one. The first is it until another becomes it' }),
  calls_per_second: z
    .int()
    .min(1, 'Must be 1 or more')
    .max(1000, 'Must be 1000 or less')
    .nullish()
    .openapi({ description: 'As many as the carrier takes from the account', default: configDefaults.calls_per_second }),
  machine_detection: z.boolean().nullish().openapi({ default: configDefaults.machine_detection }),
};

export const NewTelephonyConfigBody = z.object({ name, provider, ...fields }).openapi('NewTelephonyConfig');
export const TelephonyConfigPatchBody = z
  .object({ name: name.optional(), provider: provider.optional(), ...fields, from_numbers: fields.from_numbers.optional() })
  .openapi('TelephonyConfigPatch');

export type NewTelephonyConfig = z.output<typeof NewTelephonyConfigBody>;
export type TelephonyConfigPatch = z.output<typeof TelephonyConfigPatchBody>;

export const TelephonyConfigRecord = z
  .object({
    id: z.int(),
    name: z.string(),
    provider,
    twilio: z.object({ account_sid: z.string(), auth_token: z.string().openapi({ example: '****7f3a' }) }).nullable(),
    telnyx: z
      .object({ api_key: z.string().openapi({ example: '****7f3a' }), connection_id: z.string(), public_key: z.string() })
      .nullable(),
    from_numbers: z.array(z.string()),
    inbound_workflow_id: z.int().nullable(),
    inbound_url: z.string().openapi({ description: 'Where the carrier is to send calls to these numbers' }),
    is_default: z.boolean(),
    calls_per_second: z.int(),
    machine_detection: z.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .openapi('TelephonyConfig');

export const TelephonyConfigQuery = z.object({
  ...pageQuery,
  search: z.string().max(200).optional().openapi({ description: 'Part of the name' }),
});
export const TelephonyConfigList = listOf('telephony_configs', TelephonyConfigRecord);
