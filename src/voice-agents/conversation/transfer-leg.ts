import { nextInside } from '../../library/time/weekly-slots.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import type { TransferSettings } from '../definition/transfer-settings.ts';

/** How the line of a human ended. `closed`: it was not dialled outside of the business hours; `not_a_call`: a chat or a test dials nobody. */
type LegResult = 'completed' | 'busy' | 'no_answer' | 'failed' | 'cancelled' | 'closed' | 'not_a_call';

/** What is known of the line of a human. Reports come twice and out of order, so the state follows from all of them together. */
interface LegFacts {
  /** The carrier's id of the human's line. */
  callId?: string;
  /** Epoch ms at which the human picked up, at which the summary was said, and at which both were connected. */
  answeredAt?: number;
  /** Epoch ms of the verdict that it was a machine. */
  machineAt?: number;
  announcedAt?: number;
  bridgedAt?: number;
  ended?: LegEnd;
}

interface LegEnd {
  /** Epoch ms. */
  at: number;
  result: LegResult;
  /** Seconds from the answer. */
  seconds?: number;
  /** Whether the two were connected, where the carrier says so. */
  isBridged?: boolean;
  /** The carrier's words. */
  detail?: string;
}

/** A report on the line of a human. */
export type LegFact = { callId?: string } & (
  | { fact: 'answered' | 'machine' | 'announced' | 'bridged'; at: number }
  | ({ fact: 'ended' } & LegEnd)
);

/** A message with the summary of a talk, to a human who is about to get its caller. */
export interface SummaryMessage {
  /** Identifies the message for good. */
  key: string;
  /** E.164. */
  to: string;
  text: string;
  /** Null: it is sent as a text. */
  template: { name: string; language: string; placeholder: string } | null;
}

/** `messageId`: the provider has taken the message, under its id. `problem`: it has not, or nobody knows. */
export type SummarySending = { messageId: string } | { problem: string };

/** One try to connect a caller with a human. */
export interface TransferLeg {
  /** From 1, in the order of the conversation. */
  number: number;
  /** The transfer node or, for a tool, its node. */
  nodeId: string;
  tool: string | null;
  /** The call of the model by which the transfer was requested. */
  toolCallId: string;
  to: string;
  mode: 'cold' | 'warm';
  isFallback: boolean;
  /** Epoch ms. */
  requestedAt: number;
  /** Whether the announcement was said and the summary is written, so that the human may be dialled. */
  isReady: boolean;
  /** For the human; null: there is none. */
  summary: string | null;
  /** The message with the summary. Absent: it is said. `outcome` null: it is not known yet. */
  sending?: { to: string; outcome: SummarySending | null };
  /** Epoch ms at which the carrier was first told to dial; null: it was not. */
  dialedAt: number | null;
  facts: LegFacts;
  /** The talk has gone on, or has ended, after this leg. */
  isSettled: boolean;
}

/** Whom to dial first at `now`; null: nobody is there at this time. */
export function chooseTarget(
  { to, business_hours: hours, fallback_to: fallback }: Pick<TransferSettings, 'to' | 'business_hours' | 'fallback_to'>,
  now: number,
): { to: string; isFallback: boolean } | null {
  if (!hours || nextInside(hours.slots, hours.timezone, now) === now) return { to, isFallback: false };
  return fallback ? { to: fallback, isFallback: true } : null;
}

/** The leg with one more report. The order of reports and their repeats make no difference. */
export function afterLegFact(leg: TransferLeg, report: LegFact): TransferLeg {
  const { facts } = leg;
  const callId = facts.callId ?? report.callId;
  return { ...leg, facts: { ...facts, ...(callId !== undefined && { callId }), ...toFacts(facts, report) } };
}

function toFacts(known: LegFacts, report: LegFact): Partial<LegFacts> {
  const earliest = (before: number | undefined) => Math.min(before ?? Infinity, report.at);
  switch (report.fact) {
    case 'answered':
      return { answeredAt: earliest(known.answeredAt) };
    case 'machine':
      return { machineAt: earliest(known.machineAt) };
    case 'announced':
      return { announcedAt: earliest(known.announcedAt) };
    case 'bridged':
      return { bridgedAt: earliest(known.bridgedAt) };
    case 'ended': {
      const { fact: _fact, callId: _callId, ...end } = report;
      return { ended: known.ended ?? end };
    }
  }
}

/** Whether the caller and the human were connected. In a cold transfer whoever picks up is connected. A machine is no human. */
export function wasBridged({ mode, facts: { ended, answeredAt, machineAt, bridgedAt } }: Pick<TransferLeg, 'mode' | 'facts'>): boolean {
  if (machineAt !== undefined) return false;
  if (ended?.isBridged !== undefined) return ended.isBridged;
  return bridgedAt !== undefined || (mode === 'cold' && (answeredAt !== undefined || ended?.result === 'completed'));
}

/** The leg that is being prepared, dialled or talked on; undefined: there is none. */
export const activeLeg = (legs: readonly TransferLeg[] | undefined): TransferLeg | undefined => {
  const last = legs?.at(-1);
  return last?.isSettled === false ? last : undefined;
};

/** Why nobody took a call, in a word, as the model and the record are told. */
export function failureOf({ facts: { ended, answeredAt, machineAt } }: Pick<TransferLeg, 'facts'>): string {
  if (machineAt !== undefined) return 'machine';
  if (ended === undefined) return answeredAt === undefined ? 'caller_hung_up' : 'not_connected';
  return ended.result === 'completed' ? 'not_connected' : ended.result;
}

/** A transfer as a record of the run shows it. */
export interface TransferRecord {
  /** Which request of the agent it answers, from 1: a fallback has the request of the try before it. Absent in records of earlier versions. */
  request?: number;
  to: string;
  mode: 'cold' | 'warm';
  is_fallback: boolean;
  state: 'requested' | 'dialing' | 'connected' | 'completed' | 'failed';
  requested_at: string;
  answered_at: string | null;
  seconds: number | null;
  reason: string | null;
  /** The message with the summary; absent: none was to be sent. */
  summary_message?: {
    to: string;
    state: 'sending' | 'sent' | 'failed';
    message_id: string | null;
    reason: string | null;
  };
}

const toMessageRecord = ({ to, outcome }: NonNullable<TransferLeg['sending']>): NonNullable<TransferRecord['summary_message']> => {
  if (outcome === null) return { to, state: 'sending', message_id: null, reason: null };
  if ('problem' in outcome) return { to, state: 'failed', message_id: null, reason: outcome.problem };
  return { to, state: 'sent', message_id: outcome.messageId, reason: null };
};

/** All transfers of a call. `lineEndedAt`: when the caller's line ended, epoch ms; null: it is live. */
export function toTransferRecords(legs: readonly TransferLeg[], lineEndedAt: number | null): TransferRecord[] {
  let request = 0;
  return legs.map((leg, index) => {
    if (!isFallbackOf(leg, legs[index - 1])) request++;
    return { request, ...toTransferRecord(leg, lineEndedAt) };
  });
}

/** Whether a leg was dialled because the one before it was not taken. A first leg is a fallback, too, outside of the business hours. */
const isFallbackOf = (leg: TransferLeg, before: TransferLeg | undefined): boolean =>
  leg.isFallback && before?.isFallback === false && before.toolCallId === leg.toolCallId && before.nodeId === leg.nodeId;

/** `lineEndedAt`: when the caller's line ended, epoch ms; null: it is live. */
export function toTransferRecord(leg: TransferLeg, lineEndedAt: number | null): TransferRecord {
  const { to, mode, isFallback, requestedAt, facts, dialedAt } = leg;
  const { ended } = facts;
  const endedAt = ended?.at ?? lineEndedAt;
  // Without a report of its end, the human's line has ended with that of the caller.
  const isMachine = facts.machineAt !== undefined;
  const isTaken = wasBridged(leg) || (!isMachine && ended === undefined && lineEndedAt !== null && facts.answeredAt !== undefined);
  const state = endedAt === null ? (isTaken ? 'connected' : dialedAt === null ? 'requested' : 'dialing') : isTaken ? 'completed' : 'failed';
  const answeredAt = facts.answeredAt ?? facts.bridgedAt ?? (isTaken && endedAt !== null ? endedAt - (ended?.seconds ?? 0) * 1000 : null);
  const seconds =
    ended?.seconds ?? (answeredAt === null || endedAt === null ? null : Math.max(0, Math.round((endedAt - answeredAt) / 1000)));
  const failure = failureOf(leg);
  return {
    to,
    mode,
    is_fallback: isFallback,
    state,
    requested_at: toTimestamp(requestedAt),
    answered_at: answeredAt === null || isMachine ? null : toTimestamp(answeredAt),
    seconds: isTaken && state === 'completed' ? seconds : null,
    reason: state === 'failed' ? (ended?.detail === undefined ? failure : `${failure}: ${ended.detail}`) : null,
    ...(leg.sending && { summary_message: toMessageRecord(leg.sending) }),
  };
}
