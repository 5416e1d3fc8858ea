import { catalog } from '../database/shards.ts';
import { forbidden, invalidAt, notFound } from '../library/errors.ts';
import { randomToken, sha256Hex } from '../library/hash.ts';
import { forgetOrganization } from './authenticate.ts';
import type { Caller, Context, Scope } from './context.ts';
import * as store from './store.ts';

export interface NewApiKey {
  name: string;
  scopes: Scope[];
  expires_at?: string | null | undefined;
}

/** Mints a key. Its text is answered this once; only its hash and first characters are kept. */
export async function mintApiKey(context: Context, caller: Caller, input: NewApiKey): Promise<{ row: store.ApiKeyRow; key: string }> {
  const now = context.clock();
  const expiresAt = input.expires_at ? Date.parse(input.expires_at) : null;
  if (expiresAt !== null && expiresAt <= now) throw invalidAt(['body', 'expires_at'], 'Is in the past; name a later moment or none');
  const key = `vaa_${randomToken(32)}`;
  const row = await store.insertApiKey(catalog(context.bindings), {
    organizationId: context.organization.id,
    createdBy: caller.userId,
    name: input.name,
    keyPrefix: key.slice(0, 8),
    keyHash: sha256Hex(key),
    scopes: [...new Set(input.scopes)],
    expiresAt,
    createdAt: now,
  });
  return { row, key };
}

export async function archiveApiKey(context: Context, id: number, isArchived: boolean): Promise<store.ApiKeyRow> {
  const archivedAt = isArchived ? context.clock() : null;
  const row = await store.setApiKeyArchived(catalog(context.bindings), context.organization.id, id, archivedAt);
  if (!row) throw notFound('API key');
  forgetOrganization(context.organization.id);
  return row;
}

const readingPosts = /\/knowledge-base\/search\/?$/;
const adminOnly = /\/user\/api-keys(\/|$)/;

/** Whether `scopes` cover the call; throws 403 naming the scope that is missing. Rules: the keys' own page of the API. */
export function requireScope(scopes: Scope[], method: string, path: string): void {
  if (scopes.includes('admin')) return;
  const changesSettings = method === 'PATCH' && /\/organizations\/current\/?$/.test(path);
  if (adminOnly.test(path) || changesSettings) throw forbidden('insufficient_scope: this call needs a key with the scope "admin"');
  if (scopes.includes('write')) return;
  if (method !== 'GET' && method !== 'HEAD' && !readingPosts.test(path))
    throw forbidden('insufficient_scope: this call needs a key with the scope "write"');
}
