import type { CallStatus } from '../call-status.ts';

const statusByCause = new Map<unknown, CallStatus>(
  Object.entries({
    normal_clearing: 'completed',
    time_limit: 'completed',
    user_busy: 'busy',
    busy: 'busy',
    call_rejected: 'busy',
    timeout: 'no_answer',
    no_answer: 'no_answer',
    originator_cancel: 'cancelled',
  }),
);
const sipForbidden = '403';

/**
 * How a call ended, from what `call.hangup` tells. A person who declines is busy; a network that forbids the call is a failure, as is every cause
 * that is not listed (not_found, unspecified).
 */
export function statusFromHangupCause({ hangup_cause: cause, sip_hangup_cause: sip }: Record<string, unknown>): CallStatus {
  const known = statusByCause.get(cause);
  return known === undefined || (known === 'busy' && sip === sipForbidden) ? 'failed' : known;
}
