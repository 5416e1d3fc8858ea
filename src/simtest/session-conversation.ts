import type { Clock } from '../library/clock.ts';
import type { LanguageModel } from '../providers/language-model/language-model.ts';
import { conversationSettings } from '../voice-agents/agents/configurations.ts';
import type { ConversationStore, Surroundings } from '../voice-agents/conversation/contract.ts';
import { Conversation } from '../voice-agents/conversation/conversation.ts';
import type { Guards } from '../voice-agents/conversation/guards.ts';
import { parseAgentDefinition, type AgentDefinition } from '../voice-agents/definition/definition.ts';
import type { SessionFacts, Speaker } from './contract.ts';
import { withPersona } from './persona.ts';

/** The session has limits of its own. */
const patient: Guards = { maxCallDurationSeconds: Infinity, maxUserIdleSeconds: Infinity };

interface Place {
  store: ConversationStore;
  model: LanguageModel;
  retrieve: Surroundings['retrieve'];
  now: Clock;
}

/** A side's agent, as it talks in the session. */
export const definitionOf = (facts: SessionFacts, speaker: Speaker): AgentDefinition =>
  withPersona(parseAgentDefinition(facts[speaker].definition), speaker === 'adversary' ? facts.config.persona : null);

/** The agent of one side, on what has been said so far. Its HTTP tools are never called: they answer as they are mocked. */
export function sessionConversation(facts: SessionFacts, speaker: Speaker, { store, model, retrieve, now }: Place): Conversation {
  const { config, sessionId, organization } = facts;
  const { configurations, dispositionCodes, initialContext } = facts[speaker];
  const { phrases, model: modelName } = conversationSettings(configurations);
  return new Conversation({
    setup: {
      key: `test:${sessionId}:${speaker}`,
      definition: definitionOf(facts, speaker),
      initialContext,
      organization,
      model: modelName,
      dispositionCodes,
      guards: patient,
      phrases,
      tools: { live: false, mocks: config.tool_mocks },
      seed: config.seed ?? undefined,
      millisecondsACharacter: 0,
    },
    store,
    say: () => {},
    world: {
      model,
      sendHttp: () => Promise.reject(new Error('a test calls no tools')),
      open: async (value) => value,
      retrieve,
      now,
      sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    },
  });
}
