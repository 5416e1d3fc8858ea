import { z } from 'zod';
import { isRecord } from '../../../library/json/json.ts';
import { isTerminal, rankOf, type CallStatus } from '../call-status.ts';
import type { CallState } from '../telephony.ts';

/**
 * The fields of a call resource that are read. The resource has neither the way a call ended nor whether its `call_duration` begins with
 * the answer.
 */
const CallResource = z.object({
  call_control_id: z.string().min(1),
  call_leg_id: z.string().nullish(),
  is_alive: z.boolean().nullish(),
  client_state: z.string().nullish(),
  start_time: z.string().nullish(),
});

export type TelnyxCall = z.infer<typeof CallResource>;

/** Parses a call resource; undefined if it is not valid. */
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
 * How an ended call has ended, by its events (the items of `GET /call_events`). Undefined: the events do not say. An answered call is
 * completed, whatever the events say of its end.
 */
export function endStatusFromEvents(events: unknown): CallStatus | undefined {
  const known = Array.isArray(events) ? events.filter(isRecord) : [];
  if (known.some(({ name }) => name === 'call.answered')) return 'completed';
  const end = known.find(({ name }) => name === 'call.hangup');
  if (end === undefined) return undefined;
  const { metadata } = end;
  const hangUp = isRecord(metadata) ? (isRecord(metadata['payload']) ? metadata['payload'] : metadata) : {};
  const status = hangUp['hangup_cause'] === undefined ? 'no_answer' : statusFromHangupCause(hangUp);
  return status === 'completed' ? 'no_answer' : status;
}

export const decodeAttemptKey = (clientState: string): string => Buffer.from(clientState, 'base64').toString();

/** The state of the line of a human: the number of the transfer, and the attempt of the caller. No attempt's key begins so. */
export const toHumanState = (leg: number, attemptKey: string): string => `transfer:${leg}:${attemptKey}`;

/** Null: the state is that of an attempt. */
export function parseHumanState(state: string): { leg: number; attemptKey: string } | null {
  const [, leg, attemptKey] = /^transfer:(\d{1,4}):(.+)$/s.exec(state) ?? [];
  return leg === undefined ? null : { leg: Number(leg), attemptKey: attemptKey! };
}

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
 * How a call ended, from a `call.hangup` event. A person who declines is busy. A network that forbids the call is a failure, as is each
 * cause that is not listed (not_found, unspecified).
 */
export function statusFromHangupCause({ hangup_cause: cause, sip_hangup_cause: sip }: Record<string, unknown>): CallStatus {
  const known = statusByCause.get(cause);
  return known === undefined || (known === 'busy' && sip === sipForbidden) ? 'failed' : known;
}
