import type { Context } from '../../context.ts';
import { sendMessage } from '../../messaging/messages/send-message.ts';
import type { SummaryMessage, SummarySending } from '../../voice-agents/conversation/transfer-leg.ts';

/**
 * Sends the summary of a talk to a human of the organization, by its messaging provider. Suppressions and the contact policy are about the people who
 * are called, so they do not hold. A repeat under the same key sends nothing again.
 */
export async function sendTransferSummary(context: Context, { key, to, text, template }: SummaryMessage): Promise<SummarySending> {
  const sent = await sendMessage(context, {
    sendKey: key,
    to,
    content: template
      ? { kind: 'template', templateName: template.name, language: template.language, params: { [template.placeholder]: text } }
      : { kind: 'text', text },
    contactId: null,
    automationRunId: null,
    ignoresSuppression: true,
  });
  return 'messageId' in sent ? { messageId: sent.messageId } : { problem: sent.failure.message };
}
