/**
 * The kind of a temporary failure of the platform. `refused`: the call was not started, so any call may be repeated. `lost`: the answer was
 * lost, and the call may or may not have been done.
 */
export type PlatformErrorKind = 'refused' | 'lost';

/** The component that failed, if the error tells. */
export type PlatformComponent = 'database' | 'object' | 'file_store' | 'queue' | 'platform';

interface ErrorPatterns {
  part: PlatformComponent;
  refused: RegExp;
  lost: RegExp;
}

const d1: ErrorPatterns = {
  // https://developers.cloudflare.com/d1/observability/debug-d1/#error-list
  part: 'database',
  // The first is the words of this service: the organization has moved to another shard (database/transit.ts).
  refused: /organization_moved|D1 DB is overloaded|Cannot resolve D1 DB due to transient issue|Internal error while starting up D1/i,
  lost: /Internal error in D1|D1 DB (storage operation )?exceeded|D1 DB's isolate exceeded|D1 DB reset/i,
};
const durableObjects: ErrorPatterns = {
  // https://developers.cloudflare.com/durable-objects/observability/troubleshooting/
  part: 'object',
  refused:
    /Durable Object is overloaded|Cannot resolve Durable Object due to transient issue|Internal error while starting up Durable Object/i,
  lost: /Durable Object (reset because|storage operation exceeded|exceeded its)|Durable Object's isolate exceeded|Internal error in Durable Object|object to be reset/i,
};
const r2: ErrorPatterns = {
  // https://developers.cloudflare.com/r2/api/error-codes/: the code ends the message.
  part: 'file_store',
  refused: /\((10043|10058)\)\s*$/,
  lost: /\((10001|10054)\)\s*$/,
};
const queues: ErrorPatterns = {
  // From https://github.com/cloudflare/workerd/issues/6053 and /1483, since no page lists the messages.
  part: 'queue',
  refused: /Queue send(Batch)? failed: (Queue is overloaded|Too Many Requests|Service Unavailable)/i,
  lost: /Queue send(Batch)? failed: (Internal Server Error|Bad Gateway|Gateway Time-?out)/i,
};
/** Messages that several components have in common. */
const anyComponent: ErrorPatterns = {
  part: 'platform',
  refused: /Too many requests queued|Requests queued for too long/i,
  lost: /Network connection lost|client disconnected|reset because its code was updated|exceeded (its )?(CPU time limit|timeout)|isolate exceeded its memory limit|internal error; reference = /i,
};

export interface PlatformError {
  kind: PlatformErrorKind;
  part: PlatformComponent;
  /** The recognised part of the message, which quotes nothing of the request. */
  matchedText: string;
}

/** The platform failure behind `error`. Null for an error that a repeat would meet again: a wrong statement, a broken constraint, an object's own error. */
export function classifyPlatformError(error: unknown): PlatformError | null {
  const message = String((error as Error | null)?.message ?? error);
  for (const known of [d1, durableObjects, r2, queues, anyComponent]) {
    // "Internal error while starting up D1 DB storage caused object to be reset" is both, and was not begun.
    for (const trouble of ['refused', 'lost'] as const) {
      const words = known[trouble].exec(message)?.[0].trim();
      if (words !== undefined)
        return { kind: trouble, part: known === anyComponent && /\bD1_/.test(message) ? d1.part : known.part, matchedText: words };
    }
  }
  return null;
}

export const platformErrorKind = (error: unknown): PlatformErrorKind | null => classifyPlatformError(error)?.kind ?? null;
