import type { Context } from '../context.ts';
import { type ContactPolicy, emptyPolicy, hasNoRules } from './policy.ts';
import { policyStatement, toPolicy } from './read-policy.ts';
import * as store from './store.ts';

/** A policy with the moment of its last change, epoch ms; null: there is no policy. */
export interface StoredPolicy {
  policy: ContactPolicy;
  updatedAt: number | null;
}

/** The policy of the organization; without one, the policy that has no rules. */
export async function readPolicy(context: Context): Promise<StoredPolicy> {
  const rows = await context.database.all(policyStatement(context));
  return { policy: toPolicy(rows) ?? emptyPolicy, updatedAt: rows[0]?.updated_at ?? null };
}

/** Puts a policy in the place of the one before, for all contacts from now on. A policy without rules is none. */
export async function replacePolicy({ database, organization, clock }: Context, policy: ContactPolicy): Promise<StoredPolicy> {
  if (hasNoRules(policy)) {
    await database.all(store.deletePolicy(database, organization.id), 'idempotent');
    return { policy: emptyPolicy, updatedAt: null };
  }
  const now = clock();
  await database.all(store.writePolicy(database, organization.id, JSON.stringify(policy), now), 'idempotent');
  return { policy, updatedAt: now };
}
