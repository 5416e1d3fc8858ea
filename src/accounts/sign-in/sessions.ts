import { catalog } from '../../database/shards.ts';
import { conflict, notFound } from '../../library/errors.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import { getSettings } from '../../settings.ts';
import { chooseShard } from '../organizations/choose-shard.ts';
import * as store from '../store.ts';

export async function logOut(bindings: Env, token: string): Promise<void> {
  await store.deleteSession(catalog(bindings), sha256Hex(token));
}

export async function logOutEverywhere(bindings: Env, userId: number): Promise<void> {
  await store.deleteSessionsOfUser(catalog(bindings), userId);
}

/** More are not shown. */
const maxSessionsShown = 100;

/** The live sessions of a person, the newest first. */
export const listSessions = (bindings: Env, userId: number, now: number): Promise<store.SessionRow[]> =>
  store.listSessions(catalog(bindings), userId, now, maxSessionsShown);

/** Ends one session of a person; it is refused at once. Throws 404. */
export async function endSession(bindings: Env, userId: number, id: string): Promise<void> {
  if (!(await store.deleteSessionById(catalog(bindings), userId, id))) throw notFound('Session');
}

/** A new organization, selected in the session, with its user as the first member. */
export async function createOrganization(
  bindings: Env,
  session: { token: string; userId: number },
  name: string,
  now: number,
): Promise<store.OrganizationRow> {
  const most = getSettings(bindings).ORGANIZATIONS_PER_USER;
  if ((await store.countMemberships(catalog(bindings), session.userId, most)) >= most)
    throw conflict(`You are a member of ${most} organizations, and cannot create another (ORGANIZATIONS_PER_USER); use one of them`);
  const shard = await chooseShard(bindings);
  const row = await store.insertOrganization(catalog(bindings), session.userId, { name, shard }, now);
  await store.selectOrganization(catalog(bindings), sha256Hex(session.token), row.id);
  return row;
}

/**
 * Makes an organization the session's selected one. Throws 404 for an organization that does not exist or that the user is not a member of.
 */
export async function selectOrganization(
  bindings: Env,
  session: { token: string; userId: number },
  id: number,
): Promise<store.OrganizationRow> {
  const row = await store.findOrganizationOfMember(catalog(bindings), session.userId, id);
  if (!row) throw notFound('Organization');
  await store.selectOrganization(catalog(bindings), sha256Hex(session.token), id);
  return row;
}
