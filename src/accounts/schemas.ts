import { z } from '@hono/zod-openapi';
import { bodyId, timestamp } from '../http/area.ts';
import { listOf, pageQuery } from '../http/pagination.ts';
import { isTimeZone } from '../library/time-zones.ts';
import { isCountryCode } from '../contacts/phone-numbers.ts';

const email = z.string().trim().toLowerCase().max(254).pipe(z.email('Not an e-mail address'));
const password = z.string().min(8, 'Must have 8 characters or more').max(200, 'Must have 200 characters or fewer');
const name = z.string().trim().min(1, 'Must not be empty').max(200);

export const SignUpBody = z.object({ email, password, name: name.nullish(), organization_name: name.nullish() }).openapi('SignUp');
export const LoginBody = z.object({ email, password: z.string().min(1).max(200) }).openapi('Login');
export const OrganizationNameBody = z.object({ name }).openapi('NewOrganization');
export const SelectOrganizationBody = z.object({ organization_id: bodyId }).openapi('SelectOrganization');

export const UserRecord = z.object({ id: z.int(), email: z.string(), name: z.string().nullable(), created_at: timestamp }).openapi('User');

export const OrganizationRecord = z
  .object({
    id: z.int(),
    name: z.string(),
    default_country: z.string().openapi({ example: 'US' }),
    timezone: z.string().openapi({ example: 'UTC' }),
    min_hours_between_calls: z.number(),
    plan: z.object({ max_integrations: z.int(), max_contacts: z.int(), concurrent_call_limit: z.int() }),
    created_at: timestamp,
  })
  .openapi('Organization');

export const SessionRecord = z
  .object({ token: z.string(), user: UserRecord, organization: OrganizationRecord.nullable() })
  .openapi('Session');
export const MeRecord = z.object({ user: UserRecord, organization: OrganizationRecord.nullable() }).openapi('Me');

export const OrganizationSettingsBody = z
  .object({
    name: name.optional(),
    default_country: z.string().toUpperCase().refine(isCountryCode, 'Not an ISO 3166-1 alpha-2 country code, such as "US"').optional(),
    timezone: z.string().refine(isTimeZone, 'Not an IANA time zone, such as "Europe/London"').optional(),
    min_hours_between_calls: z
      .number()
      .min(0, 'Must be 0 hours or more; 0 allows the next call at once')
      .max(720, 'Must be 720 hours (30 days) or less')
      .optional()
      .openapi({ description: 'Between two calls to one person, whoever asks for them; fractions are allowed', example: 24 }),
  })
  .openapi('OrganizationSettings');

const scope = z.enum(['read', 'write', 'admin']);

export const ApiKeyBody = z
  .object({
    name,
    scopes: z.array(scope).min(1, 'Name at least one scope').default(['write']),
    expires_at: z.iso.datetime({ offset: true, message: 'Not an ISO 8601 timestamp, such as 2027-01-31T00:00:00Z' }).nullish(),
  })
  .openapi('NewApiKey');

export const ApiKeyRecord = z
  .object({
    id: z.int(),
    name: z.string(),
    key_prefix: z.string(),
    scopes: z.array(scope),
    status: z.enum(['active', 'expired', 'archived']),
    created_by: z.int(),
    expires_at: timestamp.nullable(),
    archived_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .openapi('ApiKey');

export const NewApiKeyRecord = ApiKeyRecord.extend({ api_key: z.string().openapi({ description: 'Shown this once' }) }).openapi(
  'MintedApiKey',
);

export const ApiKeyQuery = z.object({
  ...pageQuery,
  status: z.enum(['active', 'archived']).default('active'),
  search: z.string().max(200).optional().openapi({ description: 'Substring of the name' }),
});

export const ApiKeyList = listOf('api_keys', ApiKeyRecord);
