import type { Role } from '../../database/schema/accounts.ts';
import type { Scope } from '../../context.ts';

/** What each role may do, as scopes. */
export const roleScopes: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: ['read'],
  operator: ['read', 'operate'],
  admin: ['read', 'operate', 'write', 'admin'],
  owner: ['read', 'operate', 'write', 'admin', 'owner'],
};

/** From the least to the most. */
export const roles = Object.keys(roleScopes) as [Role, ...Role[]];

/** Whether `role` may do everything that `other` may. */
export const isRoleAtLeast = (role: Role, other: Role): boolean => roles.indexOf(role) >= roles.indexOf(other);

/** The place of a role in `roles`, as SQL. */
export const roleRankSql = (column: string): string =>
  `(CASE ${column} ${roles.map((role, rank) => `WHEN '${role}' THEN ${rank}`).join(' ')} END)`;

/** What a scope of a key covers besides itself. */
const coveredScopes: Readonly<Record<Scope, readonly Scope[]>> = {
  read: ['read'],
  operate: ['read', 'operate'],
  write: ['read', 'operate', 'write'],
  admin: ['read', 'operate', 'write', 'admin'],
  owner: ['read', 'operate', 'write', 'admin', 'owner'],
};

/** Whether a person of `role` may give a key the scope. */
export const isWithinRole = (role: Role, scope: Scope): boolean => roleScopes[role].includes(scope);

/**
 * The scopes with which a key works: its own, as far as they are within the role of the person who made it, as that role is now. What a scope
 * covers of the role is left of a scope beyond it. The scope `admin` of an owner's key is everything, as it is for the owner. Without a role, which
 * is that of a person who has left, there are none.
 */
export function toKeyScopes(own: readonly Scope[], role: Role | null): Scope[] {
  if (role === null) return [];
  if (role === 'owner') return own.includes('admin') ? [...own, 'owner'] : [...own];
  return [
    ...new Set(
      own.flatMap((scope) => (isWithinRole(role, scope) ? [scope] : coveredScopes[scope].filter((one) => isWithinRole(role, one)))),
    ),
  ];
}
