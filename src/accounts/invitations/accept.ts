import { actAs, currentActor } from '../../database/audit/actor.ts';
import { catalog } from '../../database/shards.ts';
import { conflict, invalidAt, notFound, unauthorized } from '../../library/errors.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import { toLinkActor } from '../authentication/link-actor.ts';
import { emailFromHandle } from '../members/email-handles.ts';
import * as members from '../members/store.ts';
import { requireStrongPassword } from '../passwords/password-policy.ts';
import { createSession, findOrCreateAccount, type SignedIn, type Visitor } from '../sign-in/sign-in.ts';
import * as accountStore from '../store.ts';
import { requireInvitedAddress } from './invitations.ts';
import * as store from './store.ts';

export interface AcceptInput {
  token: string;
  email?: string | undefined;
  password: string;
  name?: string | null | undefined;
}

/** What a link is for, before it is used. Throws 401. */
export async function describeInvitation(bindings: Env, token: string, now: number): Promise<store.OpenInvitation> {
  const found = await store.findAcceptableInvitation(catalog(bindings), sha256Hex(token), now);
  if (!found) throw invalidInvitationError();
  return found;
}

/**
 * Makes somebody without a session a member, and begins a session in the organization. The account is the one of the address and password, and
 * is created if there is none, also where sign-up is closed. Throws 401, 422, and 409 for a member.
 */
export async function acceptInvitation(bindings: Env, input: AcceptInput, visitor: Visitor, now: number): Promise<SignedIn> {
  const accounts = catalog(bindings);
  const invitation = await describeInvitation(bindings, input.token, now);
  const email = input.email ?? invitation.email;
  if (!email) throw invalidAt(['body', 'email'], 'Is missing; the invitation names no address', 'missing');
  requireInvitedAddress(invitation, email);
  requireStrongPassword('password', input.password, [email, input.name, invitation.organizationName]);
  const { user } = await findOrCreateAccount(accounts, { email, password: input.password, name: input.name }, now);
  await join(bindings, { invitation, token: input.token, userId: user.id, address: visitor.address, now });
  const organization = (await accountStore.findOrganization(accounts, invitation.organizationId))!;
  return createSession(bindings, user, organization, email, visitor, now);
}

/** Makes the user of a session a member, and selects the organization in the session. Throws 401, 403, 404, and 409 for a member. */
export async function joinByInvitation(
  bindings: Env,
  session: { token: string; userId: number },
  input: { token: string; address: string | undefined },
  now: number,
): Promise<accountStore.OrganizationRow> {
  const accounts = catalog(bindings);
  const invitation = await describeInvitation(bindings, input.token, now);
  const user = await accountStore.findUser(accounts, session.userId);
  if (!user) throw notFound('User');
  requireInvitedAddress(invitation, emailFromHandle(user.email));
  await join(bindings, { invitation, token: input.token, userId: user.id, address: input.address, now });
  await accountStore.selectOrganization(accounts, sha256Hex(session.token), invitation.organizationId);
  return (await accountStore.findOrganization(accounts, invitation.organizationId))!;
}

async function join(
  bindings: Env,
  {
    invitation,
    token,
    userId,
    address,
    now,
  }: {
    invitation: store.OpenInvitation;
    token: string;
    userId: number;
    address: string | undefined;
    now: number;
  },
): Promise<void> {
  const accounts = catalog(bindings);
  if (await members.findMember(accounts, invitation.organizationId, userId))
    throw conflict(`You are a member of "${invitation.organizationName}" already; the invitation stays open for somebody else`);
  const { organizationId } = invitation;
  const session = currentActor();
  const actor = session ? { ...session, organizationId } : toLinkActor('invitations.accept', { organizationId, userId, address, now });
  const isJoined = await actAs(actor, () => store.acceptInvitation(accounts, { tokenHash: sha256Hex(token), userId, now }));
  if (!isJoined) throw invalidInvitationError();
}

const invalidInvitationError = () =>
  unauthorized('This invitation is unknown, used, revoked or too old; ask an admin of the organization for another');
