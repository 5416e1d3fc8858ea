import type { Role } from '../../database/schema/accounts.ts';
import { forbidden } from '../../library/errors.ts';
import type { Caller } from '../../context.ts';
import { isRoleAtLeast } from '../authentication/roles.ts';

/** The role with which a caller acts on members: that of the person, for keys as far as their scopes reach. */
const actingRole = ({ role, scopes }: Caller): Role =>
  scopes.includes('owner') ? 'owner' : role === 'owner' ? 'admin' : (role ?? 'viewer');

/** Throws 403 when `role` is above the caller's own: nobody gives, takes or holds back more than they have. */
export function requireRank(caller: Caller, role: Role, what: string): void {
  const own = actingRole(caller);
  if (!isRoleAtLeast(own, role)) throw forbidden(`insufficient_scope: an ${own} cannot ${what} with the role ${role}; ask an owner`);
}
