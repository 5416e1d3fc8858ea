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

/** The status for Twilio's word; undefined for an unknown word. */
export const toCallStatus = (word: string): CallStatus | undefined => statuses.get(word);

/** The direction for Twilio's word: `outbound-api`, `outbound-dial`, `inbound`, or `trunking-...`. */
export const toDirection = (word: string | null | undefined): 'inbound' | 'outbound' | undefined =>
  word?.startsWith('outbound') ? 'outbound' : word === 'inbound' ? 'inbound' : undefined;

/** The fields of a call resource that are read. Numbers come as strings, dates as in RFC 2822. */
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

/** Parses a call resource; undefined if it is not valid. */
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
