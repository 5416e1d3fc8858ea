import { maxRetryAfterMs } from './retry-schedule.ts';

/** What an endpoint's row knows about its receiver. Moments in epoch ms. */
export interface EndpointHealth {
  failing_since: number | null;
  last_failure_at: number | null;
  hold_until: number | null;
  /** Why the endpoint is to be disabled; null: it is not. */
  disabled_reason: string | null;
}

/** How an attempt ended, as far as the endpoint is concerned. */
export interface AttemptEnd {
  isDelivered: boolean;
  /** The status of the answer; null: there was none. */
  status: number | null;
  /** How long the receiver asks to wait (Retry-After), in ms; null: it does not ask. */
  retryAfterMs: number | null;
}

const dayMs = 86_400_000;

/** An endpoint is disabled after this time without a success. */
export const maxFailingMs = 5 * dayMs;
/** The longest delay between two attempts is a day and a tenth: after a longer silence, a failure is the first of a new series. */
const maxSilenceMs = 1.5 * dayMs;

const gone = 410;

/** The health after attempts that ended about `now`, in the order of their ends. */
export function nextHealth(before: EndpointHealth, ends: AttemptEnd[], now: number): EndpointHealth {
  return ends.reduce<EndpointHealth>((health, end) => afterAttempt(health, end, now), { ...before, disabled_reason: null });
}

function afterAttempt(health: EndpointHealth, { isDelivered, status, retryAfterMs }: AttemptEnd, now: number): EndpointHealth {
  const holdUntil = retryAfterMs === null ? null : now + Math.min(retryAfterMs, maxRetryAfterMs);
  const hold_until = holdUntil === null ? health.hold_until : Math.max(holdUntil, health.hold_until ?? 0);
  if (isDelivered) return { ...health, failing_since: null, last_failure_at: null, hold_until };
  const isNewSeries = health.last_failure_at === null || now - health.last_failure_at > maxSilenceMs;
  const since = isNewSeries ? now : (health.failing_since ?? now);
  return {
    failing_since: since,
    last_failure_at: now,
    hold_until,
    disabled_reason: health.disabled_reason ?? disableReason(status, since, now),
  };
}

function disableReason(status: number | null, since: number, now: number): string | null {
  if (status === gone)
    return 'gone: the receiver answered 410, which says that it wants no more webhooks; resume the endpoint to send again';
  if (now - since >= maxFailingMs)
    return 'failing: no attempt has succeeded for 5 days; look at the deliveries, repair the receiver and resume the endpoint';
  return null;
}
