import { randomUUID } from 'node:crypto';
import { attemptKeyOf } from '../telephony/call-record.ts';
import type { CallSimulator } from '../telephony/call-simulator.ts';
import type { SimulatedCall } from '../telephony/simulated-call.ts';
import { invalid, TelnyxError } from './errors.ts';
import { readAnswer, readHangup, readRelayStart, type TelnyxCallRequest } from './call-request.ts';

type Calls = CallSimulator<TelnyxCallRequest>;

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
  conversation_relay_stop(_exchange: Calls, line: SimulatedCall<TelnyxCallRequest>, body: unknown) {
    readHangup(body);
    line.session?.stop();
    return {};
  },
};
