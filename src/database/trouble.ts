/**
 * Trouble of D1 itself, by what it leaves behind. `refused`: the call was not begun, so anything may be asked again. `lost`: it may have
 * been done, and nobody knows.
 */
export type Trouble = 'refused' | 'lost';

// Messages as listed by Cloudflare, https://developers.cloudflare.com/d1/observability/debug-d1/#error-list, and `runtime` of
// https://developers.cloudflare.com/durable-objects/best-practices/error-handling/.
const refusals =
  /D1 DB is overloaded|Too many requests queued|Requests queued for too long|Cannot resolve D1 DB due to transient issue|Internal error while starting up D1/i;
const losses =
  /Network connection lost|client disconnected|object to be reset|reset because its code was updated|exceeded (its )?(CPU time limit|timeout)|isolate exceeded its memory limit|Internal error in D1/i;

/** Null for an error that a repeat would meet again: one of the statement, a broken constraint. */
export function troubleOf(error: unknown): Trouble | null {
  const message = String((error as Error | null)?.message ?? error);
  // "Internal error while starting up D1 DB storage caused object to be reset" is both, and was not begun.
  if (refusals.test(message)) return 'refused';
  return losses.test(message) ? 'lost' : null;
}

/** A write whose answer is lost, and that could not be repeated to learn what became of it. */
export class OutcomeUnknownError extends Error {
  constructor(cause: unknown) {
    super(`It is unknown whether it was done: ${(cause as Error).message}`, { cause });
    this.name = 'OutcomeUnknownError';
  }
}
