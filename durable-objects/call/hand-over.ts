import type { Context } from '../../src/context.ts';
import type { RelayEndEvent } from '../../src/providers/telephony/carrier-events.ts';
import type { Clock } from '../../src/library/time/clock.ts';
import type { HandOverAction, HumanOrder } from '../../src/calls/rpc.ts';
import { performHandOver } from '../../src/calls/carrier/hand-over.ts';
import { parseConfigurations } from '../../src/voice-agents/agents/configurations.ts';
import { findTransfer, parseAgentDefinition } from '../../src/voice-agents/definition/definition.ts';
import type { LegFact, TransferLeg } from '../../src/voice-agents/conversation/transfer-leg.ts';
import { loadCarrier } from '../../src/telephony-configs/load-carrier.ts';
import type { Timers } from '../shared/timers.ts';
import { callTimers, type CallRecord } from './call-record.ts';
import type { LiveConversation } from './live-conversation.ts';
import type { RelaySockets } from './relay-sockets.ts';

/** A carrier with commands ignores a repeat within a minute. Later the same command would dial again. */
const repeatWithinMs = 45_000;
/** After ringing, reports of the human's line are awaited for so long. */
const silenceMs = 30_000;
/** The report on the end of the human's line comes within moments of the end of the caller's line. */
const endGraceMs = 2_000;

interface HandOverOptions {
  record: CallRecord;
  relay: RelaySockets;
  timers: Timers;
  clock: Clock;
  live(): LiveConversation;
  hasCall(): boolean;
}

/** What is said to the human before the caller; null: nothing. */
const toSaid = ({ summary, sending }: TransferLeg): string | null => (sending === undefined ? summary : null);

/**
 * Hands the caller to a human. The conversation stores which human is next and what is known of their line; the actions follow from that, so that
 * a report which the carrier repeats has the same action, and nobody is dialled twice.
 */
export class HandOver {
  readonly #parts: HandOverOptions;
  /** The summaries that are being sent, by the number of their leg: a repeated report waits for the same sending. */
  readonly #sending = new Map<number, Promise<void>>();

  constructor(parts: HandOverOptions) {
    this.#parts = parts;
  }

  /** The relay session is over, and a human is to be dialled. */
  begin({ sessionId }: RelayEndEvent, line: { configId: number; takesCommands: boolean } | undefined): HandOverAction {
    const { record } = this.#parts;
    // A late repeat about an earlier session: the present one still announces the transfer.
    if (sessionId !== undefined && record.line.lostSessions.includes(sessionId)) return { step: 'none' };
    if (line && record.line.handOver === null) record.updateLine({ handOver: line });
    return this.#nextAction();
  }

  /** Records a report on the line of a human. */
  record(number: number, report: LegFact): HandOverAction {
    const { record, timers, live, clock } = this.#parts;
    const { conversation } = live();
    conversation.recordLegFact(number, report);
    if (record.line.end !== null) {
      // The report that the end of the caller's line has waited for.
      if (report.fact === 'ended' && record.hasTimer(callTimers.finalize)) timers.set(callTimers.finalize, clock());
      return report.fact === 'bridged' || report.fact === 'ended' ? { step: 'none' } : { step: 'drop' };
    }
    if (report.fact === 'ended') {
      timers.clear(callTimers.transfer);
      if (!live().isLive) live().endRelaySession();
      return this.#nextAction();
    }
    const leg = conversation.handedOverLeg;
    if (leg?.number !== number) return report.fact === 'bridged' ? { step: 'none' } : { step: 'drop' };
    if (leg.facts.machineAt !== undefined) return { step: 'drop' };
    return record.line.handOver?.takesCommands === true && leg.mode === 'warm' ? this.#joinAction(leg, report.at) : { step: 'none' };
  }

  /** The next step of a warm transfer by commands: the human has picked up, or has heard the summary. */
  #joinAction(leg: TransferLeg, at: number): HandOverAction {
    const { clock } = this.#parts;
    const { number, facts } = leg;
    const summary = toSaid(leg);
    if (facts.bridgedAt !== undefined || clock() - at > repeatWithinMs) return { step: 'none' };
    if (facts.announcedAt !== undefined || summary === null) return { step: 'bridge', callId: this.#callId, leg: number };
    return { step: 'announce', leg: number, text: summary, language: this.#language };
  }

  /** The action when the human who is to be dialled has got the summary; the caller may have gone meanwhile. */
  async afterSummary(action: HandOverAction): Promise<HandOverAction> {
    if (action.step !== 'dial') return action;
    const { leg } = action.human;
    const sending = this.#sending.get(leg) ?? this.#parts.live().conversation.sendSummary(leg);
    this.#sending.set(leg, sending);
    await sending.finally(() => this.#sending.delete(leg));
    return this.#parts.hasCall() && this.#parts.record.line.end === null ? action : { step: 'none' };
  }

  /** What the human of a leg hears; null: the caller is not there any more. */
  announcement(number: number): { text: string | null; language: string | null } | null {
    const { live, record } = this.#parts;
    if (record.line.end !== null) return null;
    const leg = live().conversation.state?.transfers?.find((one) => one.number === number);
    return leg && !leg.isSettled ? { text: toSaid(leg), language: this.#language } : null;
  }

  /** How long the end of the call waits for the report on the human's line. */
  get graceMs(): number {
    const leg = this.#parts.live().conversation.state?.transfers?.at(-1);
    return leg && leg.dialedAt !== null && leg.facts.ended === undefined ? endGraceMs : 0;
  }

  /** The carrier has reported nothing of a human whom it was told to dial: the agent gets the caller back. Repeatable. */
  async onSilence(loadContext: () => Promise<Context>): Promise<void> {
    const { record, timers, clock, live, hasCall } = this.#parts;
    const leg = live().conversation.handedOverLeg;
    const isDialed = leg !== undefined && leg.dialedAt !== null && Object.keys(leg.facts).length === 0;
    if (isDialed) {
      const detail = 'the carrier has not reported whether the human was dialled';
      live().conversation.recordLegFact(leg.number, { fact: 'ended', at: clock(), result: 'failed', isBridged: false, detail });
    }
    const { setup, line } = record;
    const action: HandOverAction = line.handOver === null || line.end !== null ? { step: 'none' } : this.#nextAction();
    // Set anew by a fallback; else nothing is left to watch once the carrier has been told.
    const isWatched = action.step === 'dial';
    if (action.step !== 'none') {
      const context = await loadContext();
      const carrier = await loadCarrier(context, line.handOver!.configId);
      const address = {
        organizationId: setup.organizationId,
        configId: line.handOver!.configId,
        runId: setup.runId,
        key: setup.attemptKey,
      };
      const next = await this.afterSummary(action);
      if (carrier) await performHandOver({ context, carrier, address }, next);
    }
    if (hasCall() && !isWatched) timers.clear(callTimers.transfer);
  }

  /** What the line of the caller needs now. */
  #nextAction(): HandOverAction {
    const { live, relay } = this.#parts;
    const callId = this.#callId;
    if (!live().isLive) return { step: 'hang_up', callId };
    const { conversation } = live();
    const leg = conversation.handedOverLeg;
    if (leg) return this.#dialAction(leg);
    const last = conversation.state?.transfers?.at(-1);
    if (last && conversation.state?.owesAnswer === true && !relay.hasSession) return { step: 'connect', callId, leg: last.number };
    return { step: 'none' };
  }

  #dialAction(leg: TransferLeg): HandOverAction {
    const { record, timers, clock, live } = this.#parts;
    const takesCommands = record.line.handOver?.takesCommands === true;
    const isKnown = leg.facts.answeredAt !== undefined || leg.facts.bridgedAt !== undefined;
    // A document is requested again when it was lost, and is followed once. A command would be followed again.
    if (takesCommands && leg.dialedAt !== null && (isKnown || clock() - leg.dialedAt > repeatWithinMs)) return { step: 'none' };
    const human = this.#toOrder(leg);
    live().conversation.markDialed(leg.number);
    if (takesCommands && leg.dialedAt === null) timers.set(callTimers.transfer, clock() + human.ringSeconds * 1000 + silenceMs);
    return { step: 'dial', callId: this.#callId, human };
  }

  #toOrder({ number, nodeId, tool, to, mode }: TransferLeg): HumanOrder {
    const { setup } = this.#parts.record;
    const transfer = findTransfer(parseAgentDefinition(setup.definition), nodeId, tool)!;
    return {
      leg: number,
      to,
      from: setup.ownNumber,
      isAnnounced: mode === 'warm',
      detectsMachines: transfer.machine_detection,
      ringSeconds: transfer.ring_seconds,
      maxSeconds: transfer.max_seconds,
    };
  }

  get #callId(): string {
    return this.#parts.record.line.callId ?? '';
  }

  get #language(): string | null {
    const { language, speech } = parseConfigurations(this.#parts.record.setup.configurations);
    const own = speech[this.#parts.record.setup.mode as keyof typeof speech] as { language?: string | null } | undefined;
    return own?.language ?? language;
  }
}
