import { z } from 'zod';
import { isTerminal, rankOf, type CallStatus } from '../call-status.ts';
import { toAnsweredBy } from '../carrier-events.ts';
import type { CallState } from '../telephony.ts';

const statuses = new Map<string, CallStatus>(
  Object.entries({
    queued: 'queued',
    initiated: 'initiated',
    ringing: 'ringing',
    'in-progress': 'answered',
    completed: 'completed',
    busy: 'busy',
    'no-answer': 'no_answer',
    failed: 'failed',
    canceled: 'cancelled',
  }),
);

/** Undefined for a word that Twilio does not use. */
export const toCallStatus = (word: string): CallStatus | undefined => statuses.get(word);

/** `outbound-api`, `outbound-dial`, `inbound`, or `trunking-...`. */
export const toDirection = (word: string | null | undefined): 'inbound' | 'outbound' | undefined =>
  word?.startsWith('outbound') ? 'outbound' : word === 'inbound' ? 'inbound' : undefined;

/** A call resource, as far as it is read. Numbers come as strings, dates as in RFC 2822. */
const CallResource = z.object({
  sid: z.string().min(1),
  status: z.string(),
  to: z.string().nullish(),
  from: z.string().nullish(),
  direction: z.string().nullish(),
  duration: z.coerce.number().nullish().catch(null),
  answered_by: z.string().nullish(),
  date_created: z.string().nullish(),
});

/** Undefined for what is no call. */
export function parseCallState(resource: unknown): CallState | undefined {
  const parsed = CallResource.safeParse(resource);
  if (!parsed.success) return undefined;
  const { sid, to, from, duration } = parsed.data;
  const status = toCallStatus(parsed.data.status);
  if (status === undefined) return undefined;
  const direction = toDirection(parsed.data.direction);
  const answeredBy = toAnsweredBy(parsed.data.answered_by);
  const createdAt = Date.parse(parsed.data.date_created ?? '');
  return {
    callId: sid,
    status,
    rank: rankOf(status),
    isTerminal: isTerminal(status),
    ...(direction && { direction }),
    ...(to && { to }),
    ...(from && { from }),
    ...(typeof duration === 'number' && isTerminal(status) && { durationSeconds: duration }),
    ...(answeredBy && { answeredBy }),
    ...(!Number.isNaN(createdAt) && { createdAt }),
  };
}
