import { z } from '@hono/zod-openapi';
import { createdAt, timestamp } from '../../http/router.ts';
import { email, name, newPassword, role, roleMeaning } from '../schemas.ts';

const token = z.string().min(1, 'Must not be empty').max(200).describe('What stands behind `#invitation=` in the link. It works once.');

export const NewInvitationBody = z
  .object({
    role: role.describe(`${roleMeaning} Not above the role of the caller.`),
    email: email
      .nullish()
      .describe(
        'Who it is for: only an account of this address can use it, and it is mailed there where the service sends mail. Without it the link is for whoever has it.',
      ),
    expires_in_days: z
      .int()
      .min(1, 'Must be 1 day or more')
      .max(30, 'Must be 30 days or less')
      .default(7)
      .describe('After how many days the link stops working.'),
  })
  .openapi('NewInvitation');
export const InvitationTokenBody = z.object({ token }).openapi('InvitationToken');
export const AcceptInvitationBody = z
  .object({
    token,
    email: email.optional().describe('The address to log in with. May be left out where the invitation names one.'),
    password: newPassword,
    name: name.nullish().describe('The name of the person, for display, if the account is new.'),
  })
  .openapi('AcceptInvitation');

const fields = {
  id: z.int().describe('Id of the invitation, by which it is revoked.'),
  role: role.describe('The role that the person will have.'),
  email: z.string().nullable().describe('The address that it is for, in lower case; null: whoever has the link.'),
  created_by: z
    .int()
    .describe('Id of the user who invites. When that person leaves or may no longer give the role, the link stops working.'),
  created_at: createdAt,
  expires_at: timestamp.describe('When the link stops working, ISO 8601 in UTC.'),
};

export const InvitationRecord = z.object(fields).describe('An open invitation, without its link.').openapi('Invitation');
export const IssuedInvitationRecord = z
  .object({
    ...fields,
    token: z.string().describe('For `POST /auth/invitations/accept`. Shown this once: only a hash of it is stored.'),
    url: z.string().describe('The link with the token, which opens a page. Shown this once.'),
    delivery: z
      .object({
        by: z.enum(['mail', 'link']).describe('`mail`: it was mailed to the address; `link`: the caller hands the link over.'),
        detail: z.string().describe('Where it went, or why the caller must hand it over.'),
      })
      .describe('How the link reaches the person.'),
  })
  .describe('The new invitation, with its link.')
  .openapi('IssuedInvitation');
export const InvitationList = z
  .object({
    invitations: z.array(InvitationRecord).describe('The newest first; at most 200 are open.'),
    total: z.int().describe('How many there are.'),
  })
  .describe('The open invitations of the organization.');
export const InvitationPreview = z
  .object({
    organization_name: z.string().describe('The name of the organization that invites.'),
    role: role.describe('The role that the person will have.'),
    email: z.string().nullable().describe('The address that it is for; null: whoever has the link.'),
    expires_at: timestamp.describe('When the link stops working, ISO 8601 in UTC.'),
  })
  .describe('What an invitation is for.')
  .openapi('InvitationPreview');
