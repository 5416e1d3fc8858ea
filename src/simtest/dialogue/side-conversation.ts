import type { Clock } from '../../library/time/clock.ts';
import type { LanguageModel } from '../../providers/language-model/contract.ts';
import { toConversationSettings } from '../../voice-agents/agents/configurations.ts';
import type { ConversationStore, ConversationDependencies } from '../../voice-agents/conversation/contract.ts';
import { Conversation } from '../../voice-agents/conversation/conversation.ts';
import type { Guards } from '../../voice-agents/conversation/guards.ts';
import { parseAgentDefinition, type AgentDefinition } from '../../voice-agents/definition/definition.ts';
import type { SessionFacts, Speaker } from '../contract.ts';

/** The session enforces its own limits. */
const unlimitedGuards: Guards = { maxCallDurationSeconds: Infinity, maxUserIdleSeconds: Infinity };

interface SideDependencies {
  store: ConversationStore;
  model: LanguageModel;
  retrieve: ConversationDependencies['retrieve'];
  now: Clock;
}

/** The definition of a side's agent, with the persona of the adversary. */
export const toSideDefinition = (facts: SessionFacts, speaker: Speaker): AgentDefinition =>
  withPersona(parseAgentDefinition(facts[speaker].definition), speaker === 'adversary' ? facts.config.persona : null);

/** The conversation engine of one side, over its stored conversation. HTTP tools are never called: their mocks answer. */
export function createSideConversation(
  facts: SessionFacts,
  speaker: Speaker,
  { store, model, retrieve, now }: SideDependencies,
): Conversation {
  const { config, sessionId, organization } = facts;
  const { configurations, dispositionCodes, initialContext } = facts[speaker];
  const { phrases, model: modelName } = toConversationSettings(configurations);
  return new Conversation({
    setup: {
      key: `test:${sessionId}:${speaker}`,
      definition: toSideDefinition(facts, speaker),
      initialContext,
      organization,
      model: modelName,
      dispositionCodes,
      guards: unlimitedGuards,
      phrases,
      tools: { live: false, mocks: config.tool_mocks },
      seed: config.seed ?? undefined,
      millisecondsPerCharacter: 0,
    },
    store,
    say: () => {},
    dependencies: {
      model,
      sendHttp: () => Promise.reject(new Error('a test calls no tools')),
      openSecrets: async (value) => value,
      retrieve,
      now,
      sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    },
  });
}

/** Appends a text, which is a template, to the prompt of each node. */
export function withPersona(definition: AgentDefinition, persona: string | null): AgentDefinition {
  const text = persona?.trim() ?? '';
  if (text === '') return definition;
  const talkNodes = new Map(
    [...definition.talkNodes].map(([id, node]) => [id, { ...node, data: { ...node.data, prompt: `${node.data.prompt}\n\n${text}` } }]),
  );
  return { ...definition, talkNodes };
}
