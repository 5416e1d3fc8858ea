const retryDelaysSeconds = [2, 10, 30, 120, 300];

export const isLastAttempt = (attempts: number): boolean => attempts > retryDelaysSeconds.length;

/** Seconds until a message is delivered again after its n-th try failed. */
export const retryDelaySeconds = (attempts: number): number => retryDelaysSeconds[Math.min(attempts, retryDelaysSeconds.length) - 1] ?? 2;
