import { actAs, currentActor } from '../../database/audit/actor.ts';
import { catalog } from '../../database/shards.ts';
import { conflict, invalidAt, notFound, unauthorized } from '../../library/errors.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import { toLinkActor } from '../authentication/link-actor.ts';
import { emailFromHandle } from '../members/email-handles.ts';
import * as members from '../members/store.ts';
import { requireStrongPassword } from '../passwords/require-strong-password.ts';
import { clearFailures } from '../sign-in/login-throttle.ts';
import { createSession, findAccount, type SignedIn, type Visitor } from '../sign-in/sign-in.ts';
import * as accountStore from '../store.ts';
import { requireInvitedAddress } from './invitations.ts';
import { limitJoins } from './limit-joins.ts';
import * as store from './store.ts';

export interface AcceptInput {
  token: string;
  email?: string | undefined;
  password: string;
  name?: string | null | undefined;
}

/** Of a person whose account is created by the transaction that makes them a member. */
const unknownUserId = 0;

/** What a link is for, before it is used. Throws 401. */
export async function describeInvitation(bindings: Env, token: string, now: number): Promise<store.OpenInvitation> {
  const found = await store.findAcceptableInvitation(catalog(bindings), sha256Hex(token), now);
  if (!found) throw invalidInvitationError();
  return found;
}

/**
 * Makes somebody without a session a member, and begins a session in the organization. The account is the one of the address and password, and
 * is created with the membership if there is none, also where sign-up is closed. Throws 401, 422, 409 for a member, and 429 after too many guesses
 * at the password of the address.
 */
export async function acceptInvitation(bindings: Env, input: AcceptInput, visitor: Visitor, now: number): Promise<SignedIn> {
  const accounts = catalog(bindings);
  const invitation = await describeInvitation(bindings, input.token, now);
  const email = input.email ?? invitation.email;
  if (!email) throw invalidAt(['body', 'email'], 'Is missing; the invitation names no address', 'missing');
  requireInvitedAddress(invitation, email);
  await requireStrongPassword('password', input.password, [email, input.name, invitation.organizationName]);
  const guess = await limitJoins(bindings, email, visitor, now);
  for (;;) {
    const { user: known, account } = await findAccount(accounts, { email, password: input.password, name: input.name }, now);
    if (known) await clearFailures(guess, accounts);
    const joining = { invitation, token: input.token, address: visitor.address, now };
    const userId = await join(bindings, { ...joining, userId: known?.id ?? unknownUserId, account });
    if (userId !== null) {
      const user = known ?? (await accountStore.findUser(accounts, userId))!;
      const organization = (await accountStore.findOrganization(accounts, invitation.organizationId))!;
      return createSession(bindings, user, organization, email, visitor, now);
    }
    // An invitation that can still be accepted was not used up: another request has created an account with this address meanwhile.
    await describeInvitation(bindings, input.token, now);
  }
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
  const joined = await join(bindings, { invitation, token: input.token, userId: user.id, account: null, address: input.address, now });
  if (joined === null) throw invalidInvitationError();
  await accountStore.selectOrganization(accounts, sha256Hex(session.token), invitation.organizationId);
  return (await accountStore.findOrganization(accounts, invitation.organizationId))!;
}

/** Returns the id of the user who has become a member, `userId` or that of the new `account`; null: the invitation was not used up. */
async function join(
  bindings: Env,
  {
    invitation,
    token,
    userId,
    account,
    address,
    now,
  }: {
    invitation: store.OpenInvitation;
    token: string;
    userId: number;
    account: accountStore.NewUser | null;
    address: string | undefined;
    now: number;
  },
): Promise<number | null> {
  const accounts = catalog(bindings);
  if (await members.findMember(accounts, invitation.organizationId, userId))
    throw conflict(`You are a member of "${invitation.organizationName}" already; the invitation stays open for somebody else`);
  const { organizationId } = invitation;
  const session = currentActor();
  const actor = session ? { ...session, organizationId } : toLinkActor('invitations.accept', { organizationId, userId, address, now });
  const acceptance = { tokenHash: sha256Hex(token), now };
  return actAs(actor, () =>
    account ? store.acceptWithNewUser(accounts, { ...acceptance, account }) : store.acceptInvitation(accounts, { ...acceptance, userId }),
  );
}

const invalidInvitationError = () =>
  unauthorized('This invitation is unknown, used, revoked or too old; ask an admin of the organization for another');
