/** How long an answer is kept for repeats. */
export const idempotencyTtlMs = 86_400_000;
