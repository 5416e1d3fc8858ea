import { randomBytes } from 'node:crypto';
import type { LineStatus } from '../telephony/call-record.ts';
import type { Carrier, CallSimulator } from '../telephony/call-simulator.ts';
import type { SimulatedCall } from '../telephony/simulated-call.ts';
import type { Callback, CallbackAnswer } from '../telephony/outbox.ts';
import type { RelayOutcome } from '../telephony/relay-session.ts';
import { pickWithin } from '../telephony/settings.ts';
import { XmlError } from '../telephony/xml.ts';
import { answeredBy, callParameters, request, statusParameters, type Parameters } from './callbacks.ts';
import { readDocument, type ConnectVerb, type DialVerb, type Verb } from './document.ts';
import type { CallbackEvent, TwilioCallRequest } from './call-request.ts';
import { recordingParameters } from './recordings.ts';
import { wireStatus } from './resource.ts';
import { sign } from './signature.ts';

type TwilioCall = SimulatedCall<TwilioCallRequest>;

export const newSid = (prefix: string): string => prefix + randomBytes(16).toString('hex');

const eventOf: Partial<Record<LineStatus, CallbackEvent>> = { initiated: 'initiated', ringing: 'ringing', answered: 'answered' };
const sessionStatuses = { ended: 'ended', hung_up: 'completed', lost: 'failed' } as const;
const maxDocuments = 50;

/** Twilio's part of a call: status callbacks, the document, the relay and its action. */
export class TwilioCarrier implements Carrier<TwilioCallRequest> {
  readonly #exchange: CallSimulator<TwilioCallRequest>;

  constructor(exchange: CallSimulator<TwilioCallRequest>) {
    this.#exchange = exchange;
  }

  report(line: TwilioCall, status: LineStatus): void {
    const { order, scenario, record } = line;
    const isEnd = record.ended_at !== null;
    if (status === 'queued' || order.statusCallback === undefined) return;
    if (!order.events.has(isEnd ? 'completed' : eventOf[status]!)) return;
    if (isEnd && scenario.isEndUntold) return;
    const event = isEnd ? 'ended' : eventOf[status]!;
    const callback = request(line, event, order.statusCallback, order.statusMethod, statusParameters(line));
    const due = scenario.isDisordered ? line.disorder.next(callback, isEnd) : [callback];
    for (const one of due) void this.#tell(line, one);
  }

  async #tell({ record }: TwilioCall, callback: Callback): Promise<void> {
    const answer = await this.#exchange.outbox.notify(callback);
    if ('failure' in answer || answer.status >= 400)
      record.problems.push(`11200: the callback "${callback.event}" was not taken: ${describe(answer)}`);
  }

  /** Inbound: rings while the document is fetched, and is answered by its first verb, unless that is Reject. */
  async offer(line: TwilioCall): Promise<void> {
    const { order } = line;
    order.document = await this.#fetchDocument(line, 'answer', order.url!, order.method, {});
    const first = order.document === undefined ? undefined : this.#read(line, order.document)?.[0];
    if (first?.verb === 'Reject') this.#exchange.end(line, first.reason === 'busy' ? 'busy' : 'no_answer', 'service');
    // Rejects when the line is down.
    await line.sleep(0);
  }

  async converse(line: TwilioCall): Promise<void> {
    const { order } = line;
    if (order.human !== undefined) {
      if (order.machineDetection !== undefined) void this.#detectLater(line, pickWithin(this.#exchange.settings.turn_ms, line.record.to));
      return this.#joinCaller(line, order.human);
    }
    // The words before the beep, and the message.
    if (order.machineDetection === 'DetectMessageEnd') line.machineUtterances = 4;
    const detectionMs = pickWithin(this.#exchange.settings.turn_ms, line.record.to);
    let verdict: Parameters = {};
    if (order.machineDetection !== undefined && order.isMachineDetectionAsync) {
      void this.#detectLater(line, detectionMs);
    } else if (order.machineDetection !== undefined) {
      await line.sleep(detectionMs);
      verdict = { AnsweredBy: answeredBy(line), MachineDetectionDuration: String(detectionMs) };
    }
    const document = order.document ?? (await this.#fetchDocument(line, 'answer', order.url!, order.method, verdict));
    await this.#run(line, document);
  }

  async #detectLater(line: TwilioCall, detectionMs: number): Promise<void> {
    const { order, record } = line;
    await line.sleep(detectionMs).catch(() => undefined);
    // Without an address the verdict is lost, as at Twilio (warning 21262).
    if (order.machineCallback === undefined) return void record.problems.push('21262: AsyncAmd without AsyncAmdStatusCallback');
    const { CallSid, AccountSid } = callParameters(line);
    const parameters = { CallSid, AccountSid, AnsweredBy: answeredBy(line), MachineDetectionDuration: String(detectionMs) };
    await this.#tell(line, request(line, 'machine', order.machineCallback, 'POST', parameters));
  }

  async #fetchDocument(
    line: TwilioCall,
    event: string,
    url: string,
    method: 'GET' | 'POST',
    more: Parameters,
  ): Promise<string | undefined> {
    const answer = await this.#exchange.outbox.ask(request(line, event, url, method, { ...callParameters(line), ...more }));
    if ('status' in answer && answer.status < 300) return answer.body;
    line.record.problems.push(`11200: no document from "${event}": ${describe(answer)}`);
    return undefined;
  }

  /** Runs documents until one ends. A faulty document ends the call, after an apology that only the person hears. */
  async #run(line: TwilioCall, first: string | undefined): Promise<void> {
    let document = first;
    for (let count = 0; document !== undefined && line.isLive && count < maxDocuments; count++) {
      const verbs = this.#read(line, document);
      if (verbs?.some(({ verb }) => verb === 'Connect') && !this.#exchange.settings.has_relay) {
        // The person hears that an application error has occurred. Under which code is not published.
        line.record.problems.push(
          '12200: ConversationRelay needs the Predictive and Generative AI/ML Features Addendum, which is not accepted',
        );
        return;
      }
      document = verbs && (await this.#runVerbs(line, verbs));
    }
  }

  #read({ record }: TwilioCall, document: string): Verb[] | undefined {
    try {
      return readDocument(document);
    } catch (error) {
      if (!(error instanceof XmlError)) throw error;
      record.problems.push(/^\d{5}:/.test(error.message) ? error.message : `12100: ${error.message}`);
      return undefined;
    }
  }

  /** The next document, or undefined when the call ends. */
  async #runVerbs(line: TwilioCall, verbs: Verb[]): Promise<string | undefined> {
    for (const verb of verbs) {
      if (verb.verb === 'Hangup' || verb.verb === 'Reject') return undefined;
      if (verb.verb === 'Pause') await line.sleep(verb.seconds * 1000);
      if (verb.verb === 'Say') line.record.transcript.push({ speaker: 'agent', text: verb.text });
      if (verb.verb === 'Redirect') return this.#fetchDocument(line, 'redirect', verb.url, verb.method, {});
      if (verb.verb === 'Dial') {
        const document = await this.#dialHuman(line, verb);
        if (document !== undefined || verb.action !== undefined || !line.isLive) return document;
      }
      if (verb.verb === 'Connect') {
        const document = await this.#connect(line, verb);
        if (document !== undefined || verb.action !== undefined || !line.isLive) return document;
      }
    }
    return undefined;
  }

  /** What a human hears who has picked up, and then the talk with the caller. A document that hangs up keeps the two apart. */
  async #joinCaller(line: TwilioCall, { url, method, callerSid }: NonNullable<TwilioCallRequest['human']>): Promise<void> {
    const caller = this.#exchange.line(callerSid);
    if (url !== undefined) {
      const document = await this.#fetchDocument(line, 'announcement', url, method, {});
      const verbs = document === undefined ? undefined : this.#read(line, document);
      if (verbs === undefined) return;
      for (const verb of verbs) {
        if (verb.verb === 'Say') line.record.transcript.push({ speaker: 'agent', text: verb.text });
        if (verb.verb === 'Pause') await line.sleep(verb.seconds * 1000);
        if (verb.verb === 'Hangup') return;
      }
      await line.sleep(pickWithin(this.#exchange.settings.turn_ms, line.record.to));
      if (line.scenario.hangsUpAfterGreeting) return this.#exchange.hangUp(line, 'person');
    }
    if (caller !== undefined) await this.#exchange.bridge(caller, line);
  }

  /** Dials a human, and requests the action when their line has ended. If the caller has hung up, the answer is ignored. */
  async #dialHuman(line: TwilioCall, dial: DialVerb): Promise<string | undefined> {
    const { record, order } = line;
    const human = this.#exchange.place(
      {
        sid: newSid('CA'),
        account: record.account,
        attemptKey: null,
        transferOf: record.sid,
        to: dial.to,
        from: dial.callerId ?? record.from,
        ringLimitMs: dial.ringSeconds * 1000,
        callLimitMs: dial.limitSeconds * 1000,
      },
      {
        ...order,
        url: undefined,
        document: undefined,
        machineDetection: dial.machineDetection,
        isMachineDetectionAsync: true,
        machineCallback: dial.amdStatusCallback,
        isRecorded: false,
        statusCallback: dial.statusCallback,
        statusMethod: dial.statusMethod,
        events: dial.events,
        ringSeconds: dial.ringSeconds,
        limitSeconds: dial.limitSeconds,
        human: { url: dial.url, method: dial.urlMethod, callerSid: record.sid },
      },
    );
    const { signal } = line;
    const leave = () => this.#exchange.end(human, human.record.answered_at === null ? 'cancelled' : 'completed', 'carrier');
    signal.addEventListener('abort', leave, { once: true });
    await human.ended;
    signal.removeEventListener('abort', leave);
    if (dial.action === undefined) return undefined;
    const { is_bridged: isBridged, status } = human.record;
    return this.#fetchDocument(line, 'dialled', dial.action, dial.method, {
      DialCallSid: human.record.sid,
      DialCallStatus: wireStatus[status],
      DialCallDuration: String(human.durationSeconds),
      DialBridged: String(isBridged),
    });
  }

  /** A relay session, and the request to its action afterwards. If the call has ended, the answer is ignored. */
  async #connect(line: TwilioCall, { action, method, relay }: ConnectVerb): Promise<string | undefined> {
    const { record, order } = line;
    const sessionId = newSid('VX');
    const startedAt = Date.now();
    const outcome = await this.#exchange.relay(line, {
      ...relay,
      headers: { 'x-twilio-signature': sign(order.authToken, relay.url), 'user-agent': 'TwilioProxy/1.1' },
      setup: {
        type: 'setup',
        sessionId,
        accountSid: record.account,
        parentCallSid: '',
        callSid: record.sid,
        from: record.from,
        to: record.to,
        forwardedFrom: '',
        callType: 'PSTN',
        callerName: '',
        direction: callParameters(line)['Direction'],
        callStatus: 'IN-PROGRESS',
        customParameters: relay.parameters,
      },
    });
    if (outcome.reason === 'hung_up') this.#exchange.hangUp(line, 'person');
    if (action === undefined) return undefined;
    const more = {
      SessionId: sessionId,
      SessionDuration: String(Math.round((Date.now() - startedAt) / 1000)),
      ...outcomeParameters(outcome),
    };
    return this.#fetchDocument(line, 'action', action, method, more);
  }

  finish(line: TwilioCall): void {
    const { order, record } = line;
    if (!order.isRecorded) return;
    const status = record.answered_at === null ? 'absent' : 'completed';
    record.recording = newSid('RE');
    this.#exchange.store.save(record);
    if (order.recordingCallback === undefined || !order.recordingEvents.has(status)) return;
    void this.#tell(line, request(line, 'recording', order.recordingCallback, 'POST', recordingParameters(line, status)));
  }
}

function outcomeParameters(outcome: RelayOutcome): Parameters {
  const parameters: Parameters = { SessionStatus: sessionStatuses[outcome.reason] };
  if (outcome.reason === 'ended') parameters['HandoffData'] = outcome.handoffData;
  if (outcome.reason === 'lost') Object.assign(parameters, { ErrorCode: String(outcome.code), ErrorMessage: outcome.message });
  return parameters;
}

const describe = (answer: CallbackAnswer): string => ('failure' in answer ? answer.failure : `status ${answer.status}`);
