/** A step that may succeed later. `message` is a sentence for the person who uploaded the document. */
export class RetryableStepError extends Error {
  override readonly name = 'Postponed';
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, retryAfterSeconds?: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
