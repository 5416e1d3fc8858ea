import { z } from 'zod';
import { isRecord } from '../../../library/json/json.ts';
import { isTerminal, rankOf, type CallStatus } from '../call-status.ts';
import type { CallState } from '../telephony.ts';

/** A call resource, as far as it is read. It does not tell how a call ended, nor whether its `call_duration` begins with the answer. */
const CallResource = z.object({
  call_control_id: z.string().min(1),
  call_leg_id: z.string().nullish(),
  is_alive: z.boolean().nullish(),
  client_state: z.string().nullish(),
  start_time: z.string().nullish(),
});

export type TelnyxCall = z.infer<typeof CallResource>;

/** Undefined for what is no call. */
export const parseTelnyxCall = (resource: unknown): TelnyxCall | undefined => CallResource.safeParse(resource).data;

export function toCallState({ call_control_id: callId, start_time, client_state }: TelnyxCall, status: CallStatus): CallState {
  const createdAt = Date.parse(start_time ?? '');
  return {
    callId,
    status,
    rank: rankOf(status),
    isTerminal: isTerminal(status),
    ...(client_state && { attemptKey: decodeAttemptKey(client_state) }),
    ...(!Number.isNaN(createdAt) && { createdAt }),
  };
}

/**
 * How a call that is over has ended, by what Telnyx told of it (the items of `GET /call_events`). Undefined: they do not tell. A call that was
 * answered is completed, whatever else is told of its end.
 */
export function endStatusFromEvents(events: unknown): CallStatus | undefined {
  const known = Array.isArray(events) ? events.filter(isRecord) : [];
  if (known.some(({ name }) => name === 'call.answered')) return 'completed';
  const end = known.find(({ name }) => name === 'call.hangup');
  if (end === undefined) return undefined;
  const { metadata } = end;
  const told = isRecord(metadata) ? (isRecord(metadata['payload']) ? metadata['payload'] : metadata) : {};
  const status = told['hangup_cause'] === undefined ? 'no_answer' : statusFromHangupCause(told);
  return status === 'completed' ? 'no_answer' : status;
}

export const decodeAttemptKey = (clientState: string): string => Buffer.from(clientState, 'base64').toString();

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
