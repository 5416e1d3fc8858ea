import { findTransfer } from '../definition/definition.ts';
import type { ConversationContext } from './conversation-context.ts';
import type { SummarySending, TransferLeg } from './transfer-leg.ts';
import { replaceLeg, toTransferEvent } from './transfer-state.ts';

/** The caller waits meanwhile. */
const timeoutMs = 6_000;
const tooSlow = 'the messaging provider had not answered in time; the log of messages tells what became of it';
const defaultPlaceholder = '1';

/** The message of a leg of which nobody knows yet whether it was sent; undefined: nothing is to be sent. */
const unsentOf = (leg: TransferLeg | undefined) => (leg?.summary != null && leg.sending?.outcome === null ? leg.sending : undefined);

/**
 * Sends the summary of a leg to its human, and records what became of that. Repeatable: the message has a key. Never throws, since a message
 * that is not sent must not lose the caller.
 */
export async function sendSummary(context: ConversationContext, number: number): Promise<void> {
  const { record, setup, dependencies } = context;
  const leg = record.state.transfers?.find((one) => one.number === number);
  const sending = unsentOf(leg);
  if (!leg || !sending) return;
  const template = findTransfer(setup.definition, leg.nodeId, leg.tool)?.summary_template;
  const message = {
    key: `${setup.key}:transfer:${number}`,
    to: sending.to,
    text: leg.summary!,
    template: template
      ? { name: template.name, language: template.language ?? '', placeholder: template.placeholder ?? defaultPlaceholder }
      : null,
  };
  const sent: Promise<SummarySending> = dependencies.sendSummary?.(message) ?? Promise.resolve({ problem: 'nothing sends messages here' });
  const late = dependencies.sleep(timeoutMs).then((): SummarySending => ({ problem: tooSlow }));
  const outcome = await Promise.race([sent, late]).catch((error: Error): SummarySending => ({ problem: error.name }));
  const current = record.state.transfers?.find((one) => one.number === number);
  if (!current || !unsentOf(current)) return;
  const settled = { ...current, sending: { ...sending, outcome } };
  const isSent = 'messageId' in outcome;
  const event = toTransferEvent(isSent ? 'transfer_summary_sent' : 'transfer_summary_not_sent', settled);
  const payload = {
    ...event.payload,
    summary_to: sending.to,
    ...(isSent ? { message_id: outcome.messageId } : { problem: outcome.problem }),
  };
  record.write(replaceLeg(record.state, settled), { events: [{ ...event, payload }] });
}
