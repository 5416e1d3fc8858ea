import { sha256Hex } from '../../library/security/hash.ts';

/**
 * `user.email` is `{address}`, and `{address} {more}` for each further account of the same address. Addresses are not verified, so a second
 * person with an address does not learn of the first: the password decides which account is meant. No address has a space in it.
 * A deleted user has ` {id}`: the id must never be assigned again, because records of others name it.
 */
export const toDuplicateHandle = (address: string, passwordHash: string): string => `${address} ${sha256Hex(passwordHash).slice(0, 16)}`;

/** Empty for a deleted user. */
export const emailFromHandle = (handle: string): string => handle.split(' ')[0]!;
