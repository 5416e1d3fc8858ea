import { z } from 'zod';
import { isTerminal, rankOf, type CallStatus } from './call-status.ts';
import type { CallState } from './telephony.ts';

/** A call resource, as far as it is read. It tells no status: only whether the call lives and how long it lasts. */
const CallResource = z.object({
  call_control_id: z.string().min(1),
  is_alive: z.boolean().nullish(),
  call_duration: z.number().nullish(),
  client_state: z.string().nullish(),
  start_time: z.string().nullish(),
});

export type TelnyxCall = z.infer<typeof CallResource>;

/** Undefined for what is no call. */
export const telnyxCallOf = (resource: unknown): TelnyxCall | undefined => CallResource.safeParse(resource).data;

/** A live call is at least on its way; of an ended one the resource does not tell how, save that one with a duration was answered. */
export function stateOfTelnyxCall({
  call_control_id: callId,
  is_alive,
  call_duration: seconds,
  start_time,
  client_state,
}: TelnyxCall): CallState {
  const status = statusOf(is_alive === true, (seconds ?? 0) > 0);
  const createdAt = Date.parse(start_time ?? '');
  return {
    callId,
    status,
    rank: rankOf(status),
    isTerminal: isTerminal(status),
    ...(isTerminal(status) && typeof seconds === 'number' && { durationSeconds: seconds }),
    ...(client_state && { attemptKey: attemptKeyOf(client_state) }),
    ...(!Number.isNaN(createdAt) && { createdAt }),
  };
}

function statusOf(isAlive: boolean, hasDuration: boolean): CallStatus {
  if (isAlive) return hasDuration ? 'answered' : 'initiated';
  return hasDuration ? 'completed' : 'no_answer';
}

export const attemptKeyOf = (clientState: string): string => Buffer.from(clientState, 'base64').toString();
