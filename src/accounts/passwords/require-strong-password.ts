import { invalidAt } from '../../library/errors.ts';
import { lazyModule } from '../../library/lazy-module.ts';

export const minPasswordLength = 12;
export const maxPasswordLength = 200;

/** With the list of common passwords, which only those requests need in which someone chooses one. */
const policy = lazyModule(() => import('./password-policy.ts'));

/** Throws 422 at `field` of the body when the password is easily guessed. `names` are those of the person and the organization. */
export async function requireStrongPassword(field: string, password: string, names: (string | null | undefined)[]): Promise<void> {
  const { findPasswordWeakness } = await policy();
  const fault = findPasswordWeakness(password, names);
  if (fault) throw invalidAt(['body', field], fault, 'weak_password');
}
