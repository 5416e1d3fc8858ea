import { randomUUID } from 'node:crypto';
import type { SimulatedCall } from '../telephony/simulated-call.ts';
import type { Callback } from '../telephony/outbox.ts';
import { signatureHeaders } from './keys.ts';
import type { TelnyxCallRequest } from './call-request.ts';

const isoTime = (time: number) => new Date(time).toISOString().replace('Z', '000Z');

/** A webhook about a call; undefined when the order names no address for it. */
export function webhook(line: SimulatedCall<TelnyxCallRequest>, event: string, type: string, more: object = {}): Callback | undefined {
  const { record } = line;
  const call = { call_control_id: record.sid, from: record.from, to: record.to, start_time: isoTime(record.created_at) };
  return createWebhook(line, event, type, { ...call, ...more });
}

/** A webhook about a recording. It names the leg of the call, not the call. */
export const recordingWebhook = (line: SimulatedCall<TelnyxCallRequest>, type: string, fields: object): Callback | undefined =>
  createWebhook(line, 'recording', type, fields);

function createWebhook(
  { record, order }: SimulatedCall<TelnyxCallRequest>,
  event: string,
  type: string,
  fields: object,
): Callback | undefined {
  const url = order.webhookUrl;
  const at = isoTime(Date.now());
  const payload = {
    call_leg_id: order.legId,
    call_session_id: order.sessionId,
    client_state: order.clientState ?? null,
    connection_id: order.connectionId,
    ...fields,
  };
  order.events.push({ legId: order.legId, sessionId: order.sessionId, name: type, at, payload });
  if (url === undefined) return undefined;
  const body = JSON.stringify({
    data: { event_type: type, id: randomUUID(), occurred_at: at, payload, record_type: 'event' },
    meta: { attempt: 1, delivered_to: url },
  });
  return {
    event,
    account: record.account,
    sid: record.sid,
    method: 'POST',
    url,
    body,
    headers: () => ({ 'content-type': 'application/json', 'user-agent': 'telnyx-webhooks', ...signatureHeaders(body, Date.now()) }),
  };
}

const causes = {
  busy: ['user_busy', 'callee'],
  no_answer: ['timeout', 'unknown'],
  failed: ['not_found', 'unknown'],
  cancelled: ['originator_cancel', 'caller'],
} as const;

/** The end of a call in the words of `call.hangup`. */
export function hangupFields({ record }: SimulatedCall<TelnyxCallRequest>): object {
  const { status, ended_by: by, sip_code: sip, ended_at: end } = record;
  const [cause, source] = causes[status as keyof typeof causes] ?? ['normal_clearing', by === 'person' ? 'callee' : 'caller'];
  return {
    state: 'hangup',
    hangup_cause: cause,
    hangup_source: source,
    sip_hangup_cause: sip === null ? (record.answered_at === null ? '487' : '200') : String(sip),
    end_time: isoTime(end ?? Date.now()),
  };
}
