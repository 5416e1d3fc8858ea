import { randomUUID } from 'node:crypto';
import type { SimulatedCall } from '../telephony/simulated-call.ts';
import type { Callback } from '../telephony/outbox.ts';
import type { TwilioCallRequest } from './call-request.ts';
import { directionOf, wireDate, wireStatus } from './resource.ts';
import { sign } from './signature.ts';

export type Parameters = Record<string, string | undefined>;

/** The parameters of every request about a call. */
export function callParameters({ record }: SimulatedCall<TwilioCallRequest>): Parameters {
  return {
    CallSid: record.sid,
    AccountSid: record.account,
    From: record.from,
    To: record.to,
    Caller: record.from,
    Called: record.to,
    CallStatus: wireStatus[record.status],
    Direction: directionOf(record),
    ApiVersion: '2010-04-01',
    ...(record.transfer_of !== null && { ParentCallSid: record.transfer_of }),
  };
}

/** A status callback with the present status and the next sequence number. */
export function statusParameters(line: SimulatedCall<TwilioCallRequest>): Parameters {
  const { record, order } = line;
  const isEnded = record.ended_at !== null;
  const isCompleted = isEnded && record.answered_at !== null;
  return {
    ...callParameters(line),
    Timestamp: wireDate(Date.now()),
    CallbackSource: 'call-progress-events',
    SequenceNumber: String(line.sequence++),
    ...(isEnded && {
      CallDuration: String(line.durationSeconds),
      Duration: String(Math.ceil(line.durationSeconds / 60)),
      SipResponseCode: String(record.sip_code ?? (isCompleted ? 200 : 487)),
    }),
    ...(isCompleted && order.machineDetection !== undefined && { AnsweredBy: answeredBy(line) }),
  };
}

export const answeredBy = ({ record, order, scenario }: SimulatedCall<TwilioCallRequest>): string =>
  record.answered_by === 'person' && !scenario.isMistaken
    ? 'human'
    : order.machineDetection === 'DetectMessageEnd'
      ? 'machine_end_beep'
      : 'machine_start';

/** A request with parameters, signed with the token of the account. The fragment of the address is an instruction to Twilio alone. */
export function request(
  { record, order }: SimulatedCall<TwilioCallRequest>,
  event: string,
  address: string,
  method: 'GET' | 'POST',
  parameters: Parameters,
): Callback {
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const form = new URLSearchParams(given);
  const plain = address.replace(/#.*$/s, '');
  const url = method === 'POST' ? plain : `${plain}${plain.includes('?') ? '&' : '?'}${form}`;
  const token = randomUUID();
  return {
    event,
    account: record.account,
    sid: record.sid,
    method,
    url,
    body: method === 'POST' ? form.toString() : '',
    headers: () => ({
      'x-twilio-signature': sign(order.authToken, url, method === 'POST' ? given : []),
      'i-twilio-idempotency-token': token,
      'user-agent': 'TwilioProxy/1.1',
      accept: '*/*',
      ...(method === 'POST' && { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }),
    }),
  };
}
