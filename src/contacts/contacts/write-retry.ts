/** How often a write that met another writer starts over before it is given up. */
export const maxWriteAttempts = 6;

/** Waits a random while, longer with each try, so that writers who met do not meet again at once. */
export const waitBeforeRetry = (attempt: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * 2 ** attempt));
