import { randomUUID } from 'node:crypto';
import { attemptKeyOf } from '../telephony/call-record.ts';
import type { CallSimulator } from '../telephony/call-simulator.ts';
import type { SimulatedCall } from '../telephony/simulated-call.ts';
import { invalid, TelnyxError } from './errors.ts';
import { readAnswer, readBridge, readHangup, readRelayStart, readSpeak, readTransfer, type TelnyxCallRequest } from './call-request.ts';
import { newCallId, TelnyxCarrier } from './carrier.ts';

type Calls = CallSimulator<TelnyxCallRequest>;

type NewOrder = (connectionId: string, origin: string, more: Partial<TelnyxCallRequest>) => TelnyxCallRequest;

const requireAnswered = (line: SimulatedCall<TelnyxCallRequest>): void => {
  if (line.record.answered_at !== null) return;
  const detail = 'This call can not receive this command because it is not answered yet.';
  throw new TelnyxError(422, '90034', 'Call not answered yet', detail);
};

/** Commands to a live call. */
export const commands = {
  hangup(exchange: Calls, line: SimulatedCall<TelnyxCallRequest>, body: unknown) {
    readHangup(body);
    exchange.hangUp(line, 'service');
    return {};
  },
  answer(_exchange: Calls, line: SimulatedCall<TelnyxCallRequest>, body: unknown) {
    const { webhook_url: url, client_state: state } = readAnswer(body);
    if (line.record.direction !== 'inbound') throw invalid('/call_control_id', 'Only an inbound call can be answered.');
    line.order.webhookUrl = url ?? line.order.webhookUrl;
    line.order.clientState = state ?? line.order.clientState;
    line.record.attempt_key ??= attemptKeyOf(url);
    line.order.answered.resolve();
    return {};
  },
  conversation_relay_start(_exchange: Calls, line: SimulatedCall<TelnyxCallRequest>, body: unknown) {
    const start = readRelayStart(body);
    if (line.record.answered_at === null)
      throw new TelnyxError(
        422,
        '90034',
        'Call not answered yet',
        'This call can not receive this command because it is not answered yet.',
      );
    if (line.session !== undefined)
      throw new TelnyxError(422, '90060', 'Conversation already active', 'Only one conversation can be active on a call at a time.');
    line.order.relay.resolve(start);
    return { conversation_relay_id: randomUUID() };
  },
  transfer(exchange: Calls, line: SimulatedCall<TelnyxCallRequest>, body: unknown, newOrder: NewOrder) {
    const transfer = readTransfer(body);
    requireAnswered(line);
    const { order, record } = line;
    const human = newOrder(order.connectionId, order.origin, {
      webhookUrl: transfer.webhook_url ?? order.webhookUrl,
      clientState: transfer.target_leg_client_state,
      sessionId: order.sessionId,
      caller: record.sid,
      bridgeOnAnswer: record.sid,
      machineDetection: transfer.answering_machine_detection,
    });
    order.isParkedAfterBridge = transfer.park_after_unbridge === 'self';
    const placed = exchange.place(
      {
        sid: newCallId(),
        account: record.account,
        attemptKey: null,
        transferOf: record.sid,
        to: transfer.to,
        from: transfer.from ?? record.to,
        ringLimitMs: transfer.timeout_secs * 1000,
        callLimitMs: transfer.time_limit_secs * 1000,
      },
      human,
    );
    // Nobody waits any more for a human who has not picked up.
    line.signal.addEventListener('abort', () => exchange.end(placed, 'cancelled', 'carrier'), { once: true });
    return {};
  },
  speak(exchange: Calls, line: SimulatedCall<TelnyxCallRequest>, body: unknown) {
    const { payload } = readSpeak(body);
    requireAnswered(line);
    void TelnyxCarrier.of(exchange).speak(line, payload);
    return {};
  },
  bridge(exchange: Calls, line: SimulatedCall<TelnyxCallRequest>, body: unknown) {
    const { call_control_id: otherId, park_after_unbridge: parked } = readBridge(body);
    const other = exchange.line(otherId);
    requireAnswered(line);
    if (!other?.isLive) throw new TelnyxError(422, '90018', 'Call has already ended', 'The call to bridge with is no longer active.');
    requireAnswered(other);
    if (other.record.is_bridged) throw new TelnyxError(422, '90050', 'Call already bridged', 'The call is already bridged.');
    line.order.isParkedAfterBridge = parked === 'self';
    void TelnyxCarrier.of(exchange).bridge(line, other);
    return {};
  },
  conversation_relay_stop(_exchange: Calls, line: SimulatedCall<TelnyxCallRequest>, body: unknown) {
    readHangup(body);
    line.session?.stop();
    return {};
  },
};
