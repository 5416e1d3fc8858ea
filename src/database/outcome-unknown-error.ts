/** A write whose answer is lost, and that could not be repeated to learn what became of it. */
export class OutcomeUnknownError extends Error {
  constructor(cause: unknown) {
    super(`It is unknown whether it was done: ${(cause as Error).message}`, { cause });
    this.name = 'OutcomeUnknownError';
  }
}
