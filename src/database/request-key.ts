const requestKeyPattern = /^request:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Names a record whose sender gave it no name, in the column of the senders' names: what is stored twice under one is one. */
export const newRequestKey = (): string => `request:${crypto.randomUUID()}`;

/** The name that the sender gave; null: it gave none. */
export const toSenderKey = (key: string | null): string | null => (key === null || requestKeyPattern.test(key) ? null : key);
