import type { CallRecord } from '../telephony/call-record.ts';
import type { SimulatedCall } from '../telephony/simulated-call.ts';
import { callParameters, type Parameters } from './callbacks.ts';
import type { TwilioCallRequest } from './call-request.ts';
import { wireDate } from './resource.ts';

export function recordingParameters(line: SimulatedCall<TwilioCallRequest>, status: 'completed' | 'absent'): Parameters {
  const { record, order } = line;
  const { CallSid, AccountSid } = callParameters(line);
  return {
    CallSid,
    AccountSid,
    RecordingSid: record.recording ?? undefined,
    RecordingUrl: `${order.origin}/twilio/2010-04-01/Accounts/${record.account}/Recordings/${record.recording}`,
    RecordingStatus: status,
    RecordingDuration: String(status === 'completed' ? line.durationSeconds : 0),
    RecordingChannels: '2',
    RecordingStartTime: wireDate(record.answered_at ?? record.created_at),
    RecordingSource: 'OutboundAPI',
  };
}

export const recordingResource = (call: CallRecord): object => ({
  sid: call.recording,
  account_sid: call.account,
  call_sid: call.sid,
  status: call.answered_at === null ? 'absent' : 'completed',
  channels: 2,
  source: 'OutboundAPI',
  date_created: wireDate(call.ended_at ?? call.created_at),
  uri: `/2010-04-01/Accounts/${call.account}/Recordings/${call.recording}.json`,
});
