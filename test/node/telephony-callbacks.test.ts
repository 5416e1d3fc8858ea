import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isForward, isTerminal, rankOf, type CallStatus } from '../../src/providers/telephony/call-status.ts';
import { toAnsweredBy } from '../../src/providers/telephony/carrier-events.ts';
import { readTelnyxCallback } from '../../src/providers/telephony/telnyx/callbacks.ts';
import { readTwilioCallback } from '../../src/providers/telephony/twilio/callbacks.ts';

const statuses: CallStatus[] = ['queued', 'initiated', 'ringing', 'answered', 'completed', 'busy', 'no_answer', 'failed', 'cancelled'];
const now = 1_800_000_000_000;

describe('the status of a call', () => {
  test('whatever order reports come in, and however often, it never moves back, and the first end stays', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...statuses)), (reports) => {
        let status: CallStatus = 'queued';
        for (const report of reports) {
          const before = status;
          if (isForward(status, report)) status = report;
          expect(rankOf(status)).toBeGreaterThanOrEqual(rankOf(before));
          if (isTerminal(before)) expect(status).toBe(before);
        }
        expect(status).toBe(reports.find(isTerminal) ?? reports.toSorted((one, other) => rankOf(other) - rankOf(one))[0] ?? 'queued');
      }),
    );
  });
});

test.each([
  ['human', 'person'],
  ['unknown', 'person'],
  ['machine_start', 'machine'],
  ['machine_end_beep', 'machine'],
  ['machine_end_silence', 'machine'],
  ['machine_end_other', 'machine'],
  ['fax', 'machine'],
  ['machine', 'machine'],
  ['not_sure', 'person'],
  ['human_residence', 'person'],
  ['human_business', 'person'],
  ['silence', 'person'],
  ['fax_detected', 'machine'],
  ['', undefined],
  [null, undefined],
])('machine detection %s means %s', (word, expected) => expect(toAnsweredBy(word)).toBe(expected));

describe('a callback of Twilio', () => {
  const read = (fields: Record<string, string>) => readTwilioCallback(new URLSearchParams({ CallSid: 'CA1', ...fields }), now);
  const at = Date.parse('Tue, 31 Aug 2010 20:36:28 +0000');

  test.each([
    ['queued', 'queued', 0],
    ['initiated', 'initiated', 1],
    ['ringing', 'ringing', 2],
    ['in-progress', 'answered', 3],
    ['completed', 'completed', 4],
    ['busy', 'busy', 4],
    ['no-answer', 'no_answer', 4],
    ['failed', 'failed', 4],
    ['canceled', 'cancelled', 4],
  ])('%s is %s of rank %i', (word, status, rank) => {
    expect(read({ CallStatus: word })).toEqual({ kind: 'status', callId: 'CA1', status, rank, isTerminal: rank === 4, at: now });
  });

  test('tells the code, the length, the verdict, its place and its time', () => {
    const fields = {
      CallStatus: 'completed',
      SipResponseCode: '200',
      CallDuration: '12',
      AnsweredBy: 'machine_start',
      SequenceNumber: '3',
      Timestamp: 'Tue, 31 Aug 2010 20:36:28 +0000',
      Direction: 'outbound-api',
      From: '+1',
      To: '+2',
    };
    expect(read(fields)).toEqual({
      kind: 'status',
      callId: 'CA1',
      status: 'completed',
      rank: 4,
      isTerminal: true,
      sipCode: 200,
      durationSeconds: 12,
      answeredBy: 'machine',
      sequence: 3,
      direction: 'outbound',
      from: '+1',
      to: '+2',
      at,
    });
  });

  test('tells a verdict, a recording and the end of a session apart', () => {
    expect(read({ AnsweredBy: 'machine_start', MachineDetectionDuration: '3120' })).toEqual({
      kind: 'machine',
      callId: 'CA1',
      answeredBy: 'machine',
      at: now,
    });
    const recording = { RecordingSid: 'RE1', RecordingUrl: 'https://api.twilio.com/RE1', RecordingDuration: '8' };
    expect(read({ ...recording, RecordingStatus: 'completed' })).toEqual({
      kind: 'recording',
      callId: 'CA1',
      status: 'completed',
      recordingId: 'RE1',
      location: 'https://api.twilio.com/RE1',
      durationSeconds: 8,
      at: now,
    });
    expect(read({ ...recording, RecordingStatus: 'absent', CallStatus: 'completed' })).toEqual({
      kind: 'recording',
      callId: 'CA1',
      status: 'absent',
      recordingId: 'RE1',
      durationSeconds: 8,
      at: now,
    });
    const session = { CallStatus: 'in-progress', SessionId: 'VX1' };
    expect(read({ ...session, SessionStatus: 'ended', HandoffData: '{}' })).toEqual({
      kind: 'relay_ended',
      callId: 'CA1',
      reason: 'ended',
      sessionId: 'VX1',
      handoffData: '{}',
      at: now,
    });
    expect(read({ ...session, SessionStatus: 'completed' })).toMatchObject({ reason: 'hung_up' });
    expect(read({ ...session, SessionStatus: 'failed', ErrorMessage: 'WebSocket ended unexpectedly' })).toMatchObject({
      reason: 'lost',
      fault: { words: 'WebSocket ended unexpectedly' },
    });
    expect(read({ ...session, SessionStatus: 'failed', ErrorCode: '64106', ErrorMessage: 'Invalid\n voice' })).toMatchObject({
      fault: { code: '64106', words: 'Invalid voice' },
    });
    expect(read({ ...session, SessionStatus: 'paused' })).toMatchObject({ reason: 'lost' });
    expect(read({ CallStatus: 'failed', ErrorCode: '13227', ErrorMessage: 'Geo permission' })).toMatchObject({
      status: 'failed',
      fault: { code: '13227', words: 'Geo permission' },
    });
    expect(read({ CallStatus: 'completed', ErrorCode: '0' })).not.toHaveProperty('fault');
  });

  test('that is none tells nothing, and none makes it throw', () => {
    for (const fields of [
      {},
      { CallStatus: 'dreaming' },
      { CallSid: '', CallStatus: 'busy' },
      { RecordingSid: 'RE1', RecordingStatus: 'lost' },
      { MachineDetectionDuration: '1' },
    ])
      expect(read(fields as Record<string, string>)).toBeUndefined();
    expect(read({ CallStatus: 'busy', SipResponseCode: '1e999', CallDuration: '-1', SequenceNumber: 'x', Timestamp: 'yesterday' })).toEqual(
      { kind: 'status', callId: 'CA1', status: 'busy', rank: 4, isTerminal: true, at: now },
    );
    fc.assert(fc.property(fc.dictionary(fc.string(), fc.string()), (fields) => void readTwilioCallback(new URLSearchParams(fields), now)));
  });
});

describe('a webhook of Telnyx', () => {
  const read = (type: string, payload: object = {}, more: object = {}) =>
    readTelnyxCallback({ data: { event_type: type, payload: { call_control_id: 'v3:1', ...payload }, ...more } }, now);

  test.each([
    ['call.initiated', {}, 'initiated', 1],
    ['call.answered', {}, 'answered', 3],
    ['call.hangup', { hangup_cause: 'normal_clearing' }, 'completed', 4],
    ['call.hangup', { hangup_cause: 'time_limit' }, 'completed', 4],
    ['call.hangup', { hangup_cause: 'user_busy' }, 'busy', 4],
    ['call.hangup', { hangup_cause: 'call_rejected', sip_hangup_cause: '603' }, 'busy', 4],
    ['call.hangup', { hangup_cause: 'call_rejected', sip_hangup_cause: '403' }, 'failed', 4],
    ['call.hangup', { hangup_cause: 'timeout' }, 'no_answer', 4],
    ['call.hangup', { hangup_cause: 'no_answer' }, 'no_answer', 4],
    ['call.hangup', { hangup_cause: 'originator_cancel' }, 'cancelled', 4],
    ['call.hangup', { hangup_cause: 'not_found' }, 'failed', 4],
    ['call.hangup', { hangup_cause: 'unspecified' }, 'failed', 4],
    ['call.hangup', {}, 'failed', 4],
  ])('%s with %j is %s', (type, payload, status, rank) => {
    expect(read(type, payload)).toMatchObject({ kind: 'status', callId: 'v3:1', status, rank, isTerminal: rank === 4, at: now });
  });

  test('carries the attempt key, the code, the length and its time', () => {
    const payload = {
      client_state: Buffer.from('campaign:7:12:1').toString('base64'),
      hangup_cause: 'not_found',
      sip_hangup_cause: '404',
      from: '+1',
      to: '+2',
    };
    expect(read('call.hangup', payload, { occurred_at: '2026-01-01T00:00:00.123456Z' })).toEqual({
      kind: 'status',
      callId: 'v3:1',
      status: 'failed',
      rank: 4,
      isTerminal: true,
      attemptKey: 'campaign:7:12:1',
      sipCode: 404,
      fault: { words: 'hangup cause not_found' },
      from: '+1',
      to: '+2',
      at: Date.parse('2026-01-01T00:00:00.123Z'),
    });
    const times = {
      hangup_cause: 'normal_clearing',
      start_time: '2026-01-01T00:00:00Z',
      end_time: '2026-01-01T00:00:12Z',
    };
    // They may count the ringing, too.
    expect(read('call.hangup', times)).not.toHaveProperty('durationSeconds');
    expect(read('call.initiated', { direction: 'incoming' })).toMatchObject({ direction: 'inbound' });
  });

  test('tells verdicts and the end of a relay apart', () => {
    expect(read('call.machine.detection.ended', { result: 'machine' })).toEqual({
      kind: 'machine',
      callId: 'v3:1',
      answeredBy: 'machine',
      at: now,
    });
    expect(read('call.machine.premium.detection.ended', { result: 'silence' })).toMatchObject({ answeredBy: 'person' });
    expect(read('call.machine.greeting.ended', { result: 'beep_detected' })).toMatchObject({ answeredBy: 'machine', isGreetingOver: true });
    expect(read('call.machine.greeting.ended', { result: 'ended' })).toMatchObject({ answeredBy: 'machine', isGreetingOver: true });
    expect(read('call.machine.greeting.ended', { result: 'not_sure' })).toBeUndefined();
    expect(read('call.conversation.ended', { reason: 'customer_disconnect' })).toMatchObject({
      kind: 'relay_ended',
      reason: 'lost',
      fault: { words: 'customer_disconnect' },
    });
    // No other reason is documented, and the line may be live.
    expect(read('call.conversation.ended', { reason: 'hangup' })).toMatchObject({ reason: 'lost', fault: { words: 'hangup' } });
  });

  const saved = {
    call_leg_id: 'leg-1',
    call_session_id: 'session-1',
    client_state: Buffer.from('campaign:7:12:1').toString('base64'),
    recording_urls: { mp3: 'https://store.test/1.mp3' },
    recording_started_at: '2026-01-01T00:00:00Z',
    recording_ended_at: '2026-01-01T00:00:08Z',
  };
  const readRecording = (payload: object, type = 'call.recording.saved') =>
    readTelnyxCallback({ data: { event_type: type, payload } }, now);

  test('of a recording need not name the call', () => {
    expect(readRecording(saved)).toEqual({
      kind: 'recording',
      status: 'completed',
      attemptKey: 'campaign:7:12:1',
      location: '/recordings?filter%5Bcall_leg_id%5D=leg-1',
      durationSeconds: 8,
      at: now,
    });
    expect(readRecording({ call_leg_id: 'leg-1' }, 'call.recording.error')).toEqual({ kind: 'recording', status: 'failed', at: now });
  });

  test('says where the recording is found, by its id, its leg, its session, or by a link where there is nothing else', () => {
    const location = (payload: object) => {
      const event = readRecording(payload);
      return event?.kind === 'recording' ? event.location : undefined;
    };
    expect(location({ ...saved, recording_id: 'r/1' })).toBe('/recordings/r%2F1');
    expect(location({ ...saved, call_leg_id: '' })).toBe('/recordings?filter%5Bcall_session_id%5D=session-1');
    expect(location({ recording_urls: { wav: 'https://store.test/1.wav' } })).toBe('https://store.test/1.wav');
    expect(location({ recording_urls: {}, public_recording_urls: { mp3: 'https://public.test/1.mp3' } })).toBe('https://public.test/1.mp3');
    expect(readRecording({ recording_urls: {} })).toBeUndefined();
  });

  test('that is none tells nothing, and none makes it throw', () => {
    for (const body of [
      null,
      [],
      {},
      { data: {} },
      { data: { event_type: 'call.answered', payload: {} } },
      { data: { event_type: 'toString', payload: { call_control_id: '1' } } },
    ])
      expect(readTelnyxCallback(body, now)).toBeUndefined();
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom('call.hangup', 'call.answered', 'call.recording.saved', 'call.machine.detection.ended', 'call.conversation.ended'),
        (value, type) => {
          readTelnyxCallback(value, now);
          if (typeof value === 'object' && value !== null && !Array.isArray(value)) read(type, value);
        },
      ),
    );
  });
});
