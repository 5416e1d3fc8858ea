import { sha256Hex } from '../../library/security/hash.ts';

/**
 * `user.email` is `{address}`, and `{address} {more}` for each further account of the same address. Nobody verifies addresses, so whoever is
 * second is not told that there is a first: the password tells whose account it is. No address has a space in it.
 * What is left of a deleted user is ` {id}`: the id must never be given again, since records of others name it.
 */
export const toDuplicateHandle = (address: string, passwordHash: string): string => `${address} ${sha256Hex(passwordHash).slice(0, 16)}`;

/** Empty for a deleted user. */
export const emailFromHandle = (handle: string): string => handle.split(' ')[0]!;
