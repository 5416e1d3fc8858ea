import type { CallRecord } from '../telephony/call-record.ts';
import type { SimulatedCall } from '../telephony/simulated-call.ts';
import { invalid } from './errors.ts';
import type { CallEvent, TelnyxCallRequest } from './call-request.ts';

export const eventResource = ({ legId, sessionId, name, at, payload }: CallEvent): object => ({
  record_type: 'call_event',
  type: 'webhook',
  call_leg_id: legId,
  call_session_id: sessionId,
  name,
  event_timestamp: at,
  metadata: { payload },
});

/** A call as the API shows it. The duration counts from the dialling, since Telnyx documents no other start. A restart of the simulators loses the order. */
export function callResource(record: CallRecord, order: TelnyxCallRequest | undefined, isAlive: boolean): object {
  const { sid, created_at: start, ended_at: end } = record;
  return {
    call_control_id: sid,
    call_leg_id: order?.legId ?? '',
    call_session_id: order?.sessionId ?? '',
    ...(order?.clientState !== undefined && { client_state: order.clientState }),
    record_type: 'call',
    is_alive: isAlive,
    call_duration: Math.ceil(((end ?? Date.now()) - start) / 1000),
    start_time: new Date(start).toISOString(),
    ...(end !== null && { end_time: new Date(end).toISOString() }),
  };
}

/** A page of active calls; its cursors are ids of calls. */
export function pageOf(lines: SimulatedCall<TelnyxCallRequest>[], { searchParams, pathname }: URL): object {
  const limit = Number(searchParams.get('page[limit]') ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > 250) throw invalid('/page/limit', 'page[limit] must be from 1 to 250');
  const after = searchParams.get('page[after]');
  const from = after === null ? 0 : lines.findIndex(({ record }) => record.sid === after) + 1;
  const page = lines.slice(from, from + limit);
  const last = page.at(-1)?.record.sid ?? null;
  const hasMore = lines.length > from + limit;
  return {
    data: page.map(({ record, order }) => {
      const { call_control_id, call_leg_id, call_session_id, client_state, call_duration } = callResource(record, order, true) as Record<
        string,
        unknown
      >;
      return { call_control_id, call_leg_id, call_session_id, client_state, call_duration, record_type: 'call' };
    }),
    meta: {
      total_items: lines.length,
      cursors: { after: last, before: page[0]?.record.sid ?? null },
      next: hasMore ? `${pathname}?page[after]=${last}&page[limit]=${limit}` : null,
    },
  };
}
