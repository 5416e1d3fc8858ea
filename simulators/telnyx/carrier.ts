import { randomBytes, randomUUID } from 'node:crypto';
import type { LineStatus } from '../telephony/call-record.ts';
import type { Carrier, CallSimulator } from '../telephony/call-simulator.ts';
import type { SimulatedCall } from '../telephony/simulated-call.ts';
import type { Callback } from '../telephony/outbox.ts';
import { pickWithin } from '../telephony/settings.ts';
import type { RelayStart, TelnyxCallRequest } from './call-request.ts';
import { recordingLinks } from './recordings.ts';
import { hangupFields, recordingWebhook, webhook } from './webhooks.ts';

type TelnyxCall = SimulatedCall<TelnyxCallRequest>;

export const newCallId = (): string => `v3:${randomBytes(30).toString('base64url')}`;

const types: Partial<Record<LineStatus, string>> = { initiated: 'call.initiated', answered: 'call.answered' };

/** Telnyx's part of a call: webhooks and commands. */
export class TelnyxCarrier implements Carrier<TelnyxCallRequest> {
  readonly #exchange: CallSimulator<TelnyxCallRequest>;

  static readonly #ofExchange = new WeakMap<CallSimulator<TelnyxCallRequest>, TelnyxCarrier>();

  constructor(exchange: CallSimulator<TelnyxCallRequest>) {
    this.#exchange = exchange;
    TelnyxCarrier.#ofExchange.set(exchange, this);
  }

  static of(exchange: CallSimulator<TelnyxCallRequest>): TelnyxCarrier {
    return TelnyxCarrier.#ofExchange.get(exchange)!;
  }

  report(line: TelnyxCall, status: LineStatus): void {
    const { record, scenario } = line;
    const isEnd = record.ended_at !== null;
    if (isEnd && scenario.isEndUntold) return;
    const type = isEnd ? 'call.hangup' : types[status];
    // Telnyx sends no webhook for ringing.
    if (type === undefined) return;
    const more = isEnd ? hangupFields(line) : status === 'initiated' ? { direction: 'outgoing', state: 'bridging' } : {};
    const callback = webhook(line, isEnd ? 'ended' : status, type, more);
    if (callback === undefined) return;
    const due = scenario.isDisordered ? line.disorder.next(callback, isEnd) : [callback];
    for (const one of due) void this.#tell(line, one);
  }

  async #tell({ record }: TelnyxCall, callback: Callback | undefined): Promise<void> {
    if (callback === undefined) return;
    const answer = await this.#exchange.outbox.notify(callback);
    if ('failure' in answer || answer.status >= 400)
      record.problems.push(
        `The webhook "${callback.event}" was not taken: ${'failure' in answer ? answer.failure : `status ${answer.status}`}`,
      );
  }

  /** Inbound: rings until the command to answer comes, or the caller gives up. */
  async offer(line: TelnyxCall): Promise<void> {
    void this.#tell(line, webhook(line, 'initiated', 'call.initiated', { direction: 'incoming', state: 'parked' }));
    await Promise.race([line.order.answered.promise, this.#loseInterest(line)]);
  }

  /** Never resolves: the caller hangs up, or the line goes down before. */
  async #loseInterest(line: TelnyxCall): Promise<never> {
    await line.sleep(this.#exchange.settings.patience_ms);
    this.#exchange.hangUp(line, 'person');
    return new Promise(() => undefined);
  }

  /** Talks over each relay that is started, and waits for the next. Hangs up after a long silence. */
  async converse(line: TelnyxCall): Promise<void> {
    void this.#detect(line);
    const caller = line.order.bridgeOnAnswer === undefined ? undefined : this.#exchange.line(line.order.bridgeOnAnswer);
    if (caller !== undefined) return this.bridge(caller, line);
    for (;;) {
      const start = await this.#nextRelay(line);
      if (start === 'bridged') {
        await Promise.race([line.ended, line.order.unbridged.promise]);
        if (!line.isLive) return;
        Object.assign(line.order, { bridged: Promise.withResolvers(), unbridged: Promise.withResolvers() });
        continue;
      }
      if (start === undefined) return this.#exchange.hangUp(line, 'person');
      const sessionId = randomUUID();
      const outcome = await this.#exchange.relay(line, {
        url: start.url,
        headers: { 'user-agent': 'telnyx-conversation-relay' },
        greeting: start.greeting,
        language: start.language,
        hasDtmf: start.dtmf_detection,
        isStrict: true,
        setup: setupFrame(line, sessionId, start),
      });
      if (outcome.reason === 'hung_up') this.#exchange.hangUp(line, 'person');
      // The only documented reason.
      const reason = outcome.reason === 'lost' ? 'customer_disconnect' : `relay_${outcome.reason}`;
      void this.#tell(line, webhook(line, 'conversation_ended', 'call.conversation.ended', { conversation_id: sessionId, reason }));
      if (!line.isLive) return;
    }
  }

  async #nextRelay(line: TelnyxCall): Promise<RelayStart | 'bridged' | undefined> {
    for (;;) {
      const { relay, bridged } = line.order;
      const next = await Promise.race([relay.promise, bridged.promise, line.sleep(this.#exchange.settings.patience_ms)]);
      // A caller waits as long as it rings for them.
      const isRinging = this.#exchange.lines().some((human) => human.isLive && human.order.caller === line.record.sid);
      if (next === undefined && isRinging) continue;
      if (next !== 'bridged') line.order.relay = Promise.withResolvers();
      return next ?? undefined;
    }
  }

  /** Says a text to a human. */
  async speak(line: TelnyxCall, text: string): Promise<void> {
    void this.#tell(line, webhook(line, 'speak_started', 'call.speak.started'));
    await line.sleep(pickWithin(this.#exchange.settings.turn_ms, line.record.to)).catch(() => undefined);
    if (line.isLive) line.record.transcript.push({ speaker: 'agent', text });
    const status = line.isLive ? 'completed' : 'call_hangup';
    void this.#tell(line, webhook(line, 'speak_ended', 'call.speak.ended', { status }));
    if (line.scenario.hangsUpAfterGreeting) this.#exchange.hangUp(line, 'person');
  }

  /** Connects the two lines until one of them ends. Then the other one ends, too, unless it is the caller's and is to be parked. */
  async bridge(caller: TelnyxCall, human: TelnyxCall): Promise<void> {
    for (const line of [caller, human]) {
      line.order.bridged.resolve('bridged');
      void this.#tell(line, webhook(line, 'bridged', 'call.bridged'));
    }
    const leave = () =>
      caller.order.isParkedAfterBridge ? caller.order.unbridged.resolve() : this.#exchange.end(caller, 'completed', 'carrier');
    human.signal.addEventListener('abort', leave, { once: true });
    await this.#exchange.bridge(caller, human).catch(() => undefined);
  }

  async #detect(line: TelnyxCall): Promise<void> {
    const { order, record, scenario } = line;
    if (order.machineDetection === 'disabled') return;
    // The words before the beep, and the message.
    if (order.machineDetection !== 'detect') line.machineUtterances = 4;
    await line.sleep(pickWithin(this.#exchange.settings.turn_ms, record.to)).catch(() => undefined);
    const isPremium = order.machineDetection === 'premium';
    const person = isPremium ? 'human_residence' : 'human';
    const result = record.answered_by === 'machine' || scenario.isMistaken ? 'machine' : person;
    await this.#tell(line, webhook(line, 'machine', `call.machine.${isPremium ? 'premium.' : ''}detection.ended`, { result }));
    // The end of the greeting of a real machine, where it was asked for.
    if (record.answered_by !== 'machine' || !(isPremium || order.machineDetection === 'detect_beep')) return;
    await line.sleep(pickWithin(this.#exchange.settings.turn_ms, record.to)).catch(() => undefined);
    if (!line.isLive) return;
    const type = `call.machine.${isPremium ? 'premium.' : ''}greeting.ended`;
    await this.#tell(line, webhook(line, 'greeting_ended', type, { result: 'beep_detected' }));
  }

  finish(line: TelnyxCall): void {
    const { order, record } = line;
    if (!order.isRecorded || record.answered_at === null) return;
    record.recording = randomUUID();
    this.#exchange.store.save(record);
    const fields = {
      recording_started_at: new Date(record.answered_at).toISOString(),
      recording_ended_at: new Date(record.ended_at!).toISOString(),
      channels: 'dual',
      recording_urls: recordingLinks(record, order.origin, this.#exchange.settings.link_ms),
      public_recording_urls: {},
    };
    void this.#tell(line, recordingWebhook(line, 'call.recording.saved', fields));
  }
}

const setupFrame = ({ record, order }: TelnyxCall, sessionId: string, start: RelayStart): object => ({
  type: 'setup',
  sessionId,
  accountSid: order.connectionId,
  callSid: record.sid,
  callControlId: record.sid,
  callSessionId: order.sessionId,
  callLegId: order.legId,
  from: record.from,
  to: record.to,
  direction: record.direction,
  callerName: '',
  callStatus: 'active',
  customParameters: start.custom_parameters,
});
