import { catalog } from '../../database/shards.ts';
import { cutPage, decodeCursor, type PageResult, type Page } from '../../http/pagination.ts';
import { conflict, forbidden, invalidAt, notFound } from '../../library/errors.ts';
import { randomToken, sha256Hex } from '../../library/security/hash.ts';
import { evictOrganizationAndKeys } from '../authentication/identity.ts';
import type { Caller, Context, Scope } from '../../context.ts';
import { findMember } from '../members/store.ts';
import { enforcePlanLimit } from '../organizations/plan-limits.ts';
import * as store from '../store.ts';

export interface NewApiKey {
  name: string;
  scopes: Scope[];
  expires_at?: string | null | undefined;
}

/**
 * Mints a key. Only this answer contains its text; only its hash and first characters are stored. Throws 403 for a scope that the caller lacks and
 * for a caller who is removed meanwhile, 409 beyond the plan, 422.
 */
export async function mintApiKey(context: Context, caller: Caller, input: NewApiKey): Promise<{ row: store.ApiKeyRow; key: string }> {
  requireWithinOwnScopes(caller, input.scopes);
  const now = context.clock();
  const expiresAt = input.expires_at ? Date.parse(input.expires_at) : null;
  if (expiresAt !== null && expiresAt <= now) throw invalidAt(['body', 'expires_at'], 'Is in the past; name a later moment or none');
  const key = `vaa_${randomToken(32)}`;
  const row = {
    createdBy: caller.userId,
    name: input.name,
    keyPrefix: key.slice(0, 8),
    keyHash: sha256Hex(key),
    scopes: [...new Set(input.scopes)],
    expiresAt,
    createdAt: now,
  };
  const insert = () => store.insertApiKey(catalog(context.bindings), context.organization, row);
  const inserted = await enforcePlanLimit(context.organization, insert);
  if (!inserted) throw noMemberError();
  return { row: inserted, key };
}

/** One page of the organization's keys, newest first. */
export async function listApiKeys(
  context: Context,
  query: Page & { status: 'active' | 'archived'; search?: string | undefined },
): Promise<PageResult<store.ApiKeyRow>> {
  const { rows, total } = await store.listApiKeys(catalog(context.bindings), context.organization.id, {
    isArchived: query.status === 'archived',
    search: query.search,
    before: decodeCursor(query.cursor)?.id,
    limit: query.limit + 1,
    offset: query.offset,
  });
  return { ...cutPage(rows, query.limit, ({ id }) => ({ value: null, id })), total };
}

/**
 * Revokes a key. It stops working at once in this isolate, and within five seconds in others. A key that is revoked already keeps the
 * moment of its revocation.
 */
export async function archiveApiKey(context: Context, id: number): Promise<store.ApiKeyRow> {
  const row = await store.archiveApiKey(catalog(context.bindings), context.organization.id, id, context.clock());
  if (!row) throw notFound('API key');
  evictOrganizationAndKeys(context.organization.id);
  return row;
}

/**
 * Makes a revoked key work again. A key of somebody who has left, or whose role is above the caller's, becomes the caller's: it then does no more
 * than the caller may, and ends when the caller leaves. Throws 404, 403 for a key with scopes beyond the caller's own, 409 beyond the plan, and 409
 * for an owner who would make the `admin` key of somebody who has left an owner's.
 */
export async function reactivateApiKey(context: Context, caller: Caller, id: number): Promise<store.ApiKeyRow> {
  const { bindings, organization } = context;
  const known = await store.findApiKey(catalog(bindings), organization.id, id);
  if (!known) throw notFound('API key');
  const scopes = store.toScopes(known);
  requireWithinOwnScopes(caller, scopes);
  if (caller.role === 'owner' && scopes.includes('admin') && !(await findMember(catalog(bindings), organization.id, known.createdBy)))
    throw leaversKeyError();
  const reactivate = () => store.reactivateApiKey(catalog(bindings), organization, { id, userId: caller.userId });
  const row = await enforcePlanLimit(organization, reactivate);
  if (!row) throw notFound('API key');
  if (row.archivedAt !== null) throw await explainRefusal(context, caller);
  evictOrganizationAndKeys(organization.id);
  return row;
}

/** Throws 403 for a scope that the caller lacks: a key can do no more than the person who makes it. */
function requireWithinOwnScopes(caller: Caller, scopes: readonly Scope[]): void {
  const beyond = scopes.filter((scope) => !caller.scopes.includes('admin') && !caller.scopes.includes(scope));
  if (beyond.length > 0)
    throw forbidden(`insufficient_scope: the key would have the scope ${beyond.join(', ')}, and yours are ${caller.scopes.join(', ')}`);
}

/** Why a key is still archived: somebody has left meanwhile. */
const explainRefusal = async ({ bindings, organization }: Context, { userId }: Caller): Promise<Error> =>
  (await findMember(catalog(bindings), organization.id, userId)) ? leaversKeyError() : noMemberError();

const leaversKeyError = () =>
  conflict('The person who made this key has left, and as yours it could do what an owner may; mint another key');

const noMemberError = () => forbidden('You are no member of this organization any more');
