import { durationSeconds, type CallRecord, type LineStatus } from '../telephony/call-record.ts';

/** The status of a resource for each status of a callback; a resource has no `initiated`. */
export const wireStatus: Record<LineStatus, string> = {
  queued: 'queued',
  initiated: 'initiated',
  ringing: 'ringing',
  answered: 'in-progress',
  completed: 'completed',
  busy: 'busy',
  no_answer: 'no-answer',
  failed: 'failed',
  cancelled: 'canceled',
};

export const directionOf = ({ direction, transfer_of: parent }: CallRecord): string =>
  direction === 'inbound' ? 'inbound' : parent === null ? 'outbound-api' : 'outbound-dial';

/** RFC 2822 with a numeric zone, as all dates of the API. */
export const wireDate = (time: number): string => new Date(time).toUTCString().replace('GMT', '+0000');

const dateOrNull = (time: number | null) => (time === null ? null : wireDate(time));

/** A call as `GET /Calls/{sid}.json` shows it. */
export function callResource(call: CallRecord): object {
  const base = `/2010-04-01/Accounts/${call.account}/Calls/${call.sid}`;
  const isEnded = call.ended_at !== null;
  return {
    sid: call.sid,
    date_created: wireDate(call.created_at),
    date_updated: wireDate(call.ended_at ?? call.answered_at ?? call.created_at),
    parent_call_sid: call.transfer_of,
    account_sid: call.account,
    to: call.to,
    to_formatted: call.to,
    from: call.from,
    from_formatted: call.from,
    phone_number_sid: null,
    status: call.status === 'initiated' ? 'queued' : wireStatus[call.status],
    start_time: dateOrNull(call.dialled_at),
    end_time: dateOrNull(call.ended_at),
    duration: isEnded ? String(durationSeconds(call)) : null,
    price: null,
    price_unit: 'USD',
    direction: directionOf(call),
    answered_by: call.answered_by === 'machine' ? 'machine_start' : null,
    api_version: '2010-04-01',
    forwarded_from: null,
    group_sid: null,
    caller_name: null,
    queue_time: String(call.dialled_at === null ? 0 : call.dialled_at - call.created_at),
    trunk_sid: null,
    uri: `${base}.json`,
    subresource_uris: { recordings: `${base}/Recordings.json`, notifications: `${base}/Notifications.json` },
  };
}
