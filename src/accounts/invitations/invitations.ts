import { catalog } from '../../database/shards.ts';
import type { Role } from '../../database/schema/accounts.ts';
import { conflict, invalidAt, notFound } from '../../library/errors.ts';
import { randomToken, sha256Hex } from '../../library/security/hash.ts';
import { getMailSender, sendMail, type MailDelivery } from '../../providers/mail/send-mail.ts';
import type { Caller, Context } from '../../context.ts';
import { requireRank } from '../members/require-rank.ts';
import { toLinkUrl } from '../link-url.ts';
import { countMail, toNetworkSubject } from '../mail-limits.ts';
import { invitationMail } from '../mails.ts';
import * as store from './store.ts';

const dayMs = 86_400_000;
/** Open invitations of an organization. */
const maxOpenInvitations = 200;
/** Invitations mailed in an hour: to one address by all organizations, by one organization, and from one network. */
const maxMailsPerEmail = 5;
const maxMailsPerOrganization = 50;
const maxMailsPerNetwork = 50;

export interface NewInvitation {
  role: Role;
  email?: string | null | undefined;
  expires_in_days: number;
}

/** Where a request comes from: the address at which it reached the service, and the network address of the caller, if known. */
export interface InvitationOrigin {
  origin: string;
  address: string | undefined;
}

/** An invitation with its token, which only this answer has, and how it reaches the person. */
export interface IssuedInvitation {
  row: store.InvitationRow;
  token: string;
  url: string;
  delivery: MailDelivery;
}

/**
 * Invites a person. Only a hash of the token is stored. An invitation with an e-mail address is sent there if the service sends mail and has not
 * mailed too many within an hour; else the caller hands the link over. Throws 403 for a role above the caller's, 409 with too many open invitations.
 */
export async function invite(
  context: Context,
  caller: Caller,
  { origin, address }: InvitationOrigin,
  input: NewInvitation,
): Promise<IssuedInvitation> {
  requireRank(caller, input.role, 'invite a member');
  const now = context.clock();
  const token = `vai_${randomToken(32)}`;
  const row = await store.insertInvitation(
    catalog(context.bindings),
    {
      organizationId: context.organization.id,
      role: input.role,
      email: input.email ?? null,
      tokenHash: sha256Hex(token),
      createdBy: caller.userId,
      createdAt: now,
      expiresAt: now + input.expires_in_days * dayMs,
    },
    maxOpenInvitations,
  );
  if (!row) throw conflict(`There are ${maxOpenInvitations} open invitations, which is the most; revoke some`);
  const url = toLinkUrl(context.settings, origin, 'invitation', token);
  return { row, token, url, delivery: await deliver(context, { row, url, address }) };
}

async function deliver(
  context: Context,
  { row, url, address }: { row: store.InvitationRow; url: string; address: string | undefined },
): Promise<MailDelivery> {
  const { bindings, settings, organization } = context;
  if (row.email !== null && getMailSender(bindings, settings)) {
    const most = {
      [`invite-email:${row.email}`]: maxMailsPerEmail,
      [`invite-organization:${organization.id}`]: maxMailsPerOrganization,
      [`invite:${toNetworkSubject(address)}`]: maxMailsPerNetwork,
    };
    if (await countMail(catalog(bindings), most, row.createdAt))
      return { by: 'link', detail: 'Hand the link over: too many invitations were mailed within an hour' };
  }
  return sendMail(context, row.email, () => invitationMail({ organizationName: organization.name, url, row }));
}

/** The open invitations, the newest first. */
export const listInvitations = (context: Context): Promise<store.InvitationRow[]> =>
  store.listOpenInvitations(catalog(context.bindings), context.organization.id, context.clock());

/** Makes an open invitation worthless. Throws 404, also for one that was accepted, and 403 for a role above the caller's. */
export async function revokeInvitation(context: Context, caller: Caller, id: number): Promise<void> {
  const open = (await listInvitations(context)).find((one) => one.id === id);
  if (open) requireRank(caller, open.role, 'revoke an invitation');
  const revoked = await store.revokeInvitation(catalog(context.bindings), context.organization.id, id, context.clock());
  if (!revoked) throw notFound('Open invitation');
}

/** Throws 422 when the invitation is for another address. */
export function requireInvitedAddress({ email }: store.OpenInvitation, given: string): void {
  if (email !== null && email !== given)
    throw invalidAt(['body', 'email'], 'Is not the address that was invited; use that one, or ask for another invitation', 'other_address');
}
