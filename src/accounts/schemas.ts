import { z } from '@hono/zod-openapi';
import { bodyId, createdAt, orNull, timestamp } from '../http/router.ts';
import { listSchema, pageQuery } from '../http/pagination.ts';
import { isTimeZone } from '../library/time/time-zones.ts';
import { isCountryCode } from '../library/phone/phone-numbers.ts';
import { maxPasswordLength, minPasswordLength } from './passwords/require-strong-password.ts';
import { roles } from './authentication/roles.ts';
import { planLimits, type LimitName } from '../plan.ts';

export const email = z.string().trim().toLowerCase().max(254).pipe(z.email('Not an e-mail address'));
const password = z
  .string()
  .min(minPasswordLength, `Must have ${minPasswordLength} characters or more; a few words that do not belong together make a good one`)
  .max(maxPasswordLength, `Must have ${maxPasswordLength} characters or fewer`);
export const newPassword = password.describe(
  `${minPasswordLength} to ${maxPasswordLength} characters, none of the passwords that are tried first, and no variation of the e-mail address or a name. Only a slow hash of it is stored.`,
);
/** Older ones may be shorter. */
const enteredPassword = z.string().min(1, 'Must not be empty').max(maxPasswordLength);
export const name = z.string().trim().min(1, 'Must not be empty').max(200);

export const SignUpBody = z
  .object({
    email: email.describe(
      'The address to log in with, without regard to case. The answer does not tell whether it has signed up before: with the password of then this logs in, with another it begins an account of its own.',
    ),
    password: newPassword,
    name: name.nullish().describe('The name of the person, for display.'),
    organization_name: name
      .nullish()
      .describe('Creates the first organization under this name and selects it. Without it, create one by POST /auth/organizations.'),
  })
  .openapi('SignUp');
export const LoginBody = z
  .object({
    email: email.describe('The address given at sign-up, without regard to case.'),
    password: enteredPassword.describe('The password given at sign-up, or the one it was changed to.'),
  })
  .openapi('Login');
export const ChangePasswordBody = z
  .object({
    current_password: enteredPassword.describe('The password of before.'),
    new_password: newPassword,
  })
  .openapi('ChangePassword');
export const ResetPasswordBody = z
  .object({
    token: z.string().min(1, 'Must not be empty').max(200).describe('What stands behind `#password-reset=` in the link. It works once.'),
    new_password: newPassword,
  })
  .openapi('ResetPassword');
export const ForgotPasswordBody = z
  .object({ email: email.describe('The address to log in with. The answer does not tell whether it has an account.') })
  .openapi('ForgotPassword');
export const SignInLinkBody = z
  .object({ token: z.string().min(1, 'Must not be empty').max(300).describe('What stands behind `#sign-in=` in the link. It works once.') })
  .openapi('SignInLinkToken');
export const SignInLink = z
  .object({
    url: z.string().describe('The address to open in the browser that shall be logged in. It works once.'),
    token: z.string().describe('What stands behind `#sign-in=` in it.'),
    expires_at: timestamp.describe('Until when it works: an hour, and no longer than the session that asked for it.'),
  })
  .describe('A link that logs the same person in, once.')
  .openapi('SignInLink');
export const DeleteAccountBody = z
  .object({ password: enteredPassword.describe('The password, as a sign that it is you.') })
  .openapi('DeleteAccount');
export const OrganizationNameBody = z
  .object({ name: name.describe('The name of the new organization, usually that of the company.') })
  .openapi('NewOrganization');
export const SelectOrganizationBody = z
  .object({ organization_id: bodyId.describe('Id of an organization of which the caller is a member.') })
  .openapi('SelectOrganization');

export const passwordChanged = z
  .object({ status: z.literal('changed').describe('Always `changed`.') })
  .describe('The new password is the one to log in with.');

export const mailRequested = z
  .object({ status: z.literal('requested').describe('Always `requested`, whether the address has an account or not.') })
  .describe('If the address has an account, a mail with a link is on its way to it.');

export const UserRecord = z
  .object({
    id: z.int().describe('Id of the person; `created_by` of other records refers to it.'),
    email: z.string().describe('The address to log in with, in lower case.'),
    name: z.string().nullable().describe('The name for display; null when none was given.'),
    created_at: createdAt,
  })
  .describe('A person who can sign in.')
  .openapi('User');

export const role = z.enum(roles);
export const roleMeaning =
  '`viewer` reads; `operator` also works with contacts, campaigns, calls, runs and tests; `admin` also changes everything else, members and keys included; `owner` also deletes the organization and names owners.';

export const RoleBody = z.object({ role: role.describe(roleMeaning) }).openapi('NewRole');
export const OwnershipBody = z
  .object({ user_id: bodyId.describe('The member who becomes an owner. The caller becomes an admin.') })
  .openapi('NewOwner');
export const EndedSessions = z
  .object({ ended: z.int().describe('How many sessions have ended; they are refused at once.') })
  .describe('The sessions of the member in this organization are over.');

export const SessionList = z
  .object({
    sessions: z
      .array(
        z
          .object({
            id: z.string().describe('Id of the session, by which it is ended. It is no token.'),
            is_current: z.boolean().describe('True for the session that asks.'),
            user_agent: z.string().nullable().describe('The program that logged in, as it names itself; null: it did not.'),
            network: z
              .string()
              .nullable()
              .describe('The network in which the session began: an IPv4 address, or the first half of an IPv6 address.'),
            organization_id: z.int().nullable().describe('The organization that it works in; null: none is selected.'),
            created_at: createdAt,
            expires_at: timestamp.describe('When it ends by itself, ISO 8601 in UTC.'),
          })
          .describe('A session of the caller.')
          .openapi('LiveSession'),
      )
      .describe('The newest first; at most 100.'),
    total: z.int().describe('How many are shown.'),
  })
  .describe('Where the caller is logged in.');

export const MemberList = z
  .object({
    members: z
      .array(
        z
          .object({
            user_id: z.int().describe('Id of the person.'),
            email: z.string().describe('The address to log in with, in lower case.'),
            name: z.string().nullable().describe('The name for display; null when none was given.'),
            role: role.describe(roleMeaning),
            joined_at: timestamp.describe('When the person became a member, ISO 8601 in UTC.'),
          })
          .describe('A member, and what they may do.')
          .openapi('Member'),
      )
      .describe('The people, the oldest member first.'),
    total: z.int().describe('How many there are.'),
  })
  .describe('The people of the organization.');
export const ResetRecord = z
  .object({
    token: z.string().describe('For `POST /auth/password/reset`. Hand it to the member by a way that is theirs alone. Shown this once.'),
    url: z.string().describe('The link with the token, which opens a page. Shown this once.'),
    expires_at: timestamp.describe('When it stops working, ISO 8601 in UTC: a day after it was made.'),
  })
  .describe('What lets the member choose a new password, once. A newer one ends it.')
  .openapi('PasswordReset');

const limitFields = Object.values(planLimits).map((limit) => [limit.name, z.int().describe(limit.meaning)]);
const plan = z
  .object(Object.fromEntries(limitFields) as Record<LimitName, z.ZodInt>)
  .describe('What the organization may use; set by the operator of the service.');

export const OrganizationRecord = z
  .object({
    id: z.int().describe('Id of the organization; `organization_id` of all other records.'),
    name: z.string().describe('The name for display.'),
    default_country: z
      .string()
      .describe('ISO 3166-1 alpha-2 code of the country whose phone numbers may be written without country code; `US` at first.')
      .openapi({ example: 'US' }),
    timezone: z
      .string()
      .describe('IANA time zone of calling windows, schedules and quiet hours that name no other; `UTC` at first.')
      .openapi({ example: 'UTC' }),
    min_hours_between_calls: z.number().describe('Hours that must lie between two calls to one person; 0, as at first, sets no limit.'),
    plan,
    created_at: createdAt,
  })
  .describe('An organization: everything else belongs to one, and nothing of it is seen by another.')
  .openapi('Organization');

const organization = orNull(OrganizationRecord).describe('The organization that requests act in; null while none is selected.');

export const SessionRecord = z
  .object({
    token: z.string().describe('Send it as `Authorization: Bearer`. Browsers have the same in an HttpOnly cookie. Shown this once.'),
    user: UserRecord,
    organization,
  })
  .describe('The session that has begun.')
  .openapi('Session');
export const MeRecord = z
  .object({
    user: UserRecord,
    organization,
    role: orNull(role).describe('The role of the person in the organization; null while none is selected.'),
    scopes: z.array(z.string()).describe('What these credentials may do, as scopes.'),
  })
  .describe('The person behind the credentials (of an API key, who minted it) and the organization.')
  .openapi('Me');

export const DeleteOrganizationQuery = z.object({
  confirm_name: z.string().max(200).describe('The name of the organization, as a sign that this one is meant.'),
});
export const DeletionRecord = z
  .object({
    id: z.string().describe('By which `GET /deletions/{deletion_id}` tells how far it is, without credentials. Keep it.'),
    status: z
      .enum(['deleting', 'deleted'])
      .describe(
        '`deleting`: keys and sessions have ended, calls and runs are being stopped, and all that is stored goes. `deleted`: nothing is left.',
      ),
    removed: z.int().describe('Rows and files that have gone so far.'),
    requested_at: timestamp.describe('When it was asked for, ISO 8601 in UTC.'),
    finished_at: timestamp.nullable().describe('Since when nothing is left; null while it goes on, which takes two minutes at least.'),
  })
  .describe('The deletion of an organization.')
  .openapi('Deletion');

export const OrganizationSettingsBody = z
  .object({
    name: name.optional().describe('A new name for display.'),
    default_country: z
      .string()
      .toUpperCase()
      .refine(isCountryCode, 'Not an ISO 3166-1 alpha-2 country code, such as "US"')
      .optional()
      .describe('ISO 3166-1 alpha-2 code of the country whose phone numbers may be written without country code.'),
    timezone: z
      .string()
      .refine(isTimeZone, 'Not an IANA time zone, such as "Europe/London"')
      .optional()
      .describe('IANA time zone, such as `Europe/London`, of calling windows, schedules and quiet hours that name no other.'),
    min_hours_between_calls: z
      .number()
      .min(0, 'Must be 0 hours or more; 0 allows the next call at once')
      .max(720, 'Must be 720 hours (30 days) or less')
      .optional()
      .describe('Hours between two calls to one person, whoever asks for them; fractions are allowed, 0 sets no limit.'),
  })
  .openapi('OrganizationSettings');

const scope = z.enum(['read', 'operate', 'write', 'admin']);
const scopes = z
  .array(scope)
  .describe(
    'What the key may do. `read`: every GET and knowledge search; `operate`: also all that is done with contacts, campaigns, calls, runs and tests; `write`: all but API keys, members and settings of the organization; `admin`: all that the person who makes it may. A key never has more than that person, also when their role changes later.',
  );

export const ApiKeyBody = z
  .object({
    name: name.describe('The purpose of the key, which distinguishes it from others.'),
    scopes: scopes.min(1, 'Name at least one scope').default(['write']),
    expires_at: z.iso
      .datetime({ offset: true, message: 'Not an ISO 8601 timestamp, such as 2027-01-31T00:00:00Z' })
      .nullish()
      .describe('When the key stops working, ISO 8601, in the future. Without it or with null it works until it is revoked.'),
  })
  .openapi('NewApiKey');

export const ApiKeyRecord = z
  .object({
    id: z.int().describe('Id of the key, by which it is revoked and reactivated.'),
    name: z.string().describe('What the key is for, as given.'),
    key_prefix: z.string().describe('The first 8 characters of the key, to recognize it by. The rest is not stored.'),
    scopes,
    status: z.enum(['active', 'expired', 'archived']).describe('`active` works; `expired` is past `expires_at`; `archived` was revoked.'),
    created_by: z
      .int()
      .describe(
        'Id of the user who answers for it, and whose role limits it: who minted it, or who reactivated the key of somebody who had left.',
      ),
    expires_at: timestamp.nullable().describe('When it stops working; null: never by itself.'),
    archived_at: timestamp.nullable().describe('When it was revoked; null: it was not.'),
    created_at: createdAt,
  })
  .describe('An API key, without its text.')
  .openapi('ApiKey');

export const NewApiKeyRecord = ApiKeyRecord.extend({
  api_key: z.string().describe('The key itself, for the header `X-API-Key`. Shown this once: only a hash of it is stored.'),
})
  .describe('The new API key, with its text.')
  .openapi('MintedApiKey');

export const ApiKeyQuery = z.object({
  ...pageQuery,
  status: z.enum(['active', 'archived']).default('active').describe('`archived`: those that were revoked; else all others.'),
  search: z.string().max(200).optional().describe('Part of the name.'),
});

export const ApiKeyList = listSchema('api_keys', ApiKeyRecord);
