import { findTransfer } from '../definition/definition.ts';
import type { TransferSettings } from '../definition/transfer-settings.ts';
import { buildTemplateScope, listEdgesFrom, renderLenient, type ConversationContext } from './conversation-context.ts';
import type { ConversationState, StoredMessage } from './contract.ts';
import type { NewEvent, NewMessage } from './record.ts';
import type { SpeechOutput } from './speech-output.ts';
import { activeLeg, chooseTarget, failureOf, type TransferLeg } from './transfer-leg.ts';
import { replaceLeg, toSending, toTransferEvent } from './transfer-state.ts';
import { sendSummary } from './send-summary.ts';
import { summarizeForHuman } from './transfer-summary.ts';

/** The transfer node or tool that is asked for, and what the request writes beside the transfer. */
export interface TransferRequest {
  nodeId: string;
  /** Null: a transfer node. */
  tool: string | null;
  toolCallId: string;
  change?: Partial<ConversationState>;
  /** Without the answer to the tool call. */
  messages: NewMessage[];
  events: NewEvent[];
}

/**
 * Requests that the caller is handed to a human, and says the announcement. Outside of the business hours nobody is dialled, and the talk goes
 * on as after a transfer that nobody took.
 */
export async function requestTransfer(context: ConversationContext, speech: SpeechOutput, request: TransferRequest): Promise<void> {
  const { record, setup, dependencies } = context;
  const { nodeId, tool, toolCallId, change = {}, messages, events } = request;
  const settings = findTransfer(setup.definition, nodeId, tool)!;
  const now = dependencies.now();
  const target = chooseTarget(settings, now);
  const legs = record.state.transfers ?? [];
  const leg: TransferLeg = {
    number: legs.length + 1,
    nodeId,
    tool,
    toolCallId,
    to: target?.to ?? settings.to,
    mode: settings.mode,
    isFallback: target?.isFallback ?? false,
    requestedAt: now,
    isReady: false,
    summary: null,
    dialedAt: null,
    facts: target ? {} : { ended: { at: now, result: 'closed' } },
    isSettled: target === null,
  };
  const answer = (status: string): NewMessage => ({ role: 'tool', text: JSON.stringify({ status }), toolCallId });
  if (!target) {
    const failure = planAfterFailure(context, leg);
    record.write(
      { ...change, ...failure.change, transfers: [...legs, leg] },
      { messages: [answer('closed'), ...messages], events: [...events, toTransferEvent('transfer_failed', leg), ...failure.events] },
    );
    return;
  }
  const announcement = say(context, settings.announcement ?? setup.phrases.transferring);
  if (announcement !== '') speech.speak(announcement);
  record.write(
    { ...change, transfers: [...legs, leg] },
    {
      messages: [answer('connecting'), ...messages, ...(announcement === '' ? [] : [{ role: 'assistant' as const, text: announcement }])],
      events: [
        ...events,
        ...(announcement === '' ? [] : [{ type: 'agent_said', payload: { text: announcement } }]),
        toTransferEvent('transfer_requested', leg),
      ],
    },
  );
  await prepareTransfer(context);
}

/** Writes the summary of a warm transfer, and sends it where it is sent. Afterwards the human may be dialled; in a chat or test the talk ends instead. Repeatable. */
export async function prepareTransfer(context: ConversationContext): Promise<void> {
  const { record, setup } = context;
  const leg = activeLeg(record.state.transfers);
  if (!leg || leg.isReady) return;
  // A summary that was written before a crash is not written again.
  const summary = leg.mode === 'warm' && setup.hasLine === true ? (leg.summary ?? (await summarizeForHuman(context))) : null;
  const isCurrent = () => record.state.end === null && activeLeg(record.state.transfers)?.number === leg.number;
  if (!isCurrent()) return;
  if (setup.hasLine === true) {
    const sending = summary === null ? null : (leg.sending ?? toSending(findTransfer(setup.definition, leg.nodeId, leg.tool)!, leg.to));
    record.write(replaceLeg(record.state, { ...leg, summary, isReady: sending === null, ...(sending && { sending }) }));
    if (sending === null) return;
    await sendSummary(context, leg.number);
    const sent = activeLeg(record.state.transfers);
    return isCurrent() ? record.write(replaceLeg(record.state, { ...sent!, isReady: true })) : undefined;
  }
  const ended = { at: context.dependencies.now(), result: 'not_a_call' as const };
  record.write({ ...replaceLeg(record.state, { ...leg, isReady: true, facts: { ended }, isSettled: true }), closing: 'transferred' });
}

/** The change, the events and the corrected answer to the model after a transfer that nobody took. Then the agent has to speak. */
export function planAfterFailure(
  context: ConversationContext,
  leg: TransferLeg,
): { change: Partial<ConversationState>; events: NewEvent[]; replaced: StoredMessage[] } {
  const { setup, record } = context;
  const { nodesVisited } = record.state;
  const settings = findTransfer(setup.definition, leg.nodeId, leg.tool)!;
  const message = messageAfterFailure(context, settings, leg);
  const asked = record.messages.find(({ role, toolCallId }) => role === 'tool' && toolCallId === leg.toolCallId);
  const text = JSON.stringify({ status: 'nobody took the call', reason: failureOf(leg) });
  const replaced = asked ? [{ ...asked, text }] : [];
  if (leg.tool !== null) return { change: { owesAnswer: true, notice: message }, events: [], replaced };
  const [edge] = listEdgesFrom(context, leg.nodeId);
  if (!edge)
    return {
      change: { owesAnswer: true, notice: message ?? setup.phrases.transfer_failed, closing: 'transfer_failed' },
      events: [],
      replaced,
    };
  const entered = setup.definition.talkNodes.get(edge.target)!;
  return {
    change: {
      owesAnswer: true,
      notice: message,
      nodeId: entered.id,
      nodesVisited: nodesVisited.includes(entered.id) ? nodesVisited : [...nodesVisited, entered.id],
      closing: entered.type === 'endCall' ? 'end_node' : null,
    },
    events: [
      { type: 'edge_taken', payload: { edge_id: edge.id, label: edge.data.label, target: edge.target }, nodeId: leg.nodeId },
      { type: 'node_entered', nodeId: entered.id },
    ],
    replaced,
  };
}

function messageAfterFailure(context: ConversationContext, settings: TransferSettings, { facts }: TransferLeg): string | null {
  const text = facts.ended?.result === 'closed' ? settings.closed_message : settings.unanswered_message;
  const said = text ? say(context, text) : '';
  return said === '' ? null : said;
}

const say = (context: ConversationContext, template: string): string => renderLenient(template, buildTemplateScope(context)).trim();
