/** The id by which a session is shown and ended: the beginning of its token's hash, from which nobody can find the token. */
export const toSessionId = (tokenHash: string): string => tokenHash.slice(0, 16);
