import type { Context } from '../context.ts';
import { selectPolicy } from './store.ts';
import { LRUCache } from 'lru-cache';
import { lazily } from '../library/lazily.ts';
import { type ContactPolicy, ContactPolicyBody } from './policy.ts';

/** A statement for the caller's batch. `toPolicy` reads its rows. */
export const policyStatement = ({ database, organization }: Context) => selectPolicy(database, organization.id);

const parsedPolicies = lazily(
  () => new LRUCache<string, ContactPolicy>({ max: 200, memoMethod: (text) => ContactPolicyBody.parse(JSON.parse(text)) }),
);

/** The policy of JSON text that the service has stored. */
export const parseStoredPolicy = (text: string): ContactPolicy => parsedPolicies().memo(text);

/** The policy of the rows of `policyStatement`; null: the organization has none. */
export const toPolicy = ([row]: { policy: string }[]): ContactPolicy | null => (row ? parseStoredPolicy(row.policy) : null);
