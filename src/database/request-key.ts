const requestKeyPattern = /^request:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A key for a record whose sender gave none. Storing a record twice under one key stores it once. */
export const newRequestKey = (): string => `request:${crypto.randomUUID()}`;

/** The key that the sender gave; null for none. */
export const toSenderKey = (key: string | null): string | null => (key === null || requestKeyPattern.test(key) ? null : key);
