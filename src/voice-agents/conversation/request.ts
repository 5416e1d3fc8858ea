import type { ConversationMessage, ConversationRequest } from '../../providers/language-model/language-model.ts';
import { historyFor } from './history.ts';
import type { Offer } from './offers.ts';
import { nodeOf, renderAnyway, scopeOf, type Talk } from './talk.ts';

/** Nobody listens to more in one breath. */
const maximumTokens = 1_000;

const goOn: ConversationMessage = {
  role: 'system',
  content: 'You were cut off there. Go on from exactly that point, and do not repeat what you have said.',
};

/** The next question to the model. `mustSpeak`: it may not call tools any more. `wasCutOff`: its last answer broke off in the middle. */
export function requestOf(
  talk: Talk,
  offers: Offer[],
  { mustSpeak, wasCutOff }: { mustSpeak: boolean; wasCutOff: boolean },
): ConversationRequest {
  const messages = historyFor(talk.record.messages);
  return {
    model: talk.setup.model,
    system: systemPrompt(talk),
    messages: wasCutOff ? [...messages, goOn] : messages,
    tools: offers.map(({ tool }) => tool),
    tool_choice: mustSpeak ? 'none' : undefined,
    max_tokens: maximumTokens,
    seed: talk.setup.seed,
  };
}

/** The global prompt if the node asks for it, then the node's, both with what is known by now. */
function systemPrompt(talk: Talk): string {
  const { data } = nodeOf(talk);
  const { globalPrompt } = talk.setup.definition;
  const scope = scopeOf(talk);
  const prompts = data.add_global_prompt && globalPrompt !== null ? [globalPrompt, data.prompt] : [data.prompt];
  return prompts.map((prompt) => renderAnyway(prompt, scope)).join('\n\n');
}
