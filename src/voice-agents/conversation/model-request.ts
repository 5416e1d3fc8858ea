import type { ConversationMessage, ConversationRequest } from '../../providers/language-model/contract.ts';
import { toModelMessages } from './model-messages.ts';
import type { ToolOffer } from './tool-offers.ts';
import { getNode, renderLenient, buildTemplateScope, type ConversationContext } from './conversation-context.ts';

/** A longer answer is too long for one utterance. */
const maxTokens = 1_000;

const continueMessage: ConversationMessage = {
  role: 'system',
  content: 'You were cut off there. Go on from exactly that point, and do not repeat what you have said.',
};

/** Builds the next request to the model. `mustSpeak`: it may not call tools. `wasCutOff`: its last answer broke off in the middle. */
export function buildModelRequest(
  context: ConversationContext,
  offers: ToolOffer[],
  { mustSpeak, wasCutOff }: { mustSpeak: boolean; wasCutOff: boolean },
): ConversationRequest {
  const messages = toModelMessages(context.record.messages);
  return {
    model: context.setup.model,
    system: buildSystemPrompt(context),
    messages: wasCutOff ? [...messages, continueMessage] : messages,
    tools: offers.map(({ tool }) => tool),
    tool_choice: mustSpeak ? 'none' : undefined,
    max_tokens: maxTokens,
    seed: context.setup.seed,
  };
}

/** The global prompt, if the node wants it, and the node's prompt, both rendered with the current values. */
function buildSystemPrompt(context: ConversationContext): string {
  const { data } = getNode(context);
  const { globalPrompt } = context.setup.definition;
  const scope = buildTemplateScope(context);
  const prompts = data.add_global_prompt && globalPrompt !== null ? [globalPrompt, data.prompt] : [data.prompt];
  return prompts.map((prompt) => renderLenient(prompt, scope)).join('\n\n');
}
