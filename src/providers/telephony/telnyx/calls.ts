import { z } from 'zod';
import { isRecord } from '../../../library/json/json.ts';
import { isTerminal, rankOf, type CallStatus } from '../call-status.ts';
import { statusFromHangupCause } from './hangup-cause.ts';
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
