import type { Json } from '../../src/library/json/json.ts';
import type { GuardedRequest, GuardedResponse } from '../../src/providers/http/guarded-request.ts';
import type { ConversationMessage, LanguageModel } from '../../src/providers/language-model/contract.ts';
import type { ConversationSetup, ConversationStore, ConversationDependencies } from '../../src/voice-agents/conversation/contract.ts';
import { Conversation } from '../../src/voice-agents/conversation/conversation.ts';
import { defaultGuards } from '../../src/voice-agents/conversation/guards.ts';
import { MemoryConversationStore } from '../../src/voice-agents/conversation/memory-store.ts';
import { defaultPhrases } from '../../src/voice-agents/conversation/phrases.ts';
import { parseAgentDefinition, validateAgentDefinition } from '../../src/voice-agents/definition/definition.ts';
import { salesAgent } from './agents.ts';

export interface Options {
  definition?: unknown;
  setup?: Partial<ConversationSetup>;
  world?: Partial<ConversationDependencies>;
  store?: ConversationStore;
}

export const startedAt = Date.UTC(2026, 10, 20, 9);

/** A conversation with `model` at a clock that the test moves. */
export function begin(model: LanguageModel, { definition = salesAgent, setup, world, store: given }: Options = {}) {
  const problems = validateAgentDefinition(definition);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  const clock = { now: startedAt };
  const memory = new MemoryConversationStore();
  const store = given ?? memory;
  const utterances: string[] = [];
  const tokens: { token: string; last: boolean; nodeId: string; isInterruptible: boolean }[] = [];
  const sent: GuardedRequest[] = [];
  let open = '';
  const conversation = new Conversation({
    setup: {
      key: 'run-7',
      definition: parseAgentDefinition(definition),
      initialContext: { first_name: 'Ada' },
      organization: { timezone: 'Europe/Berlin', default_country: 'DE' },
      dispositionCodes: {},
      guards: defaultGuards,
      phrases: defaultPhrases,
      tools: { live: true },
      millisecondsPerCharacter: 0,
      ...setup,
    },
    store,
    dependencies: {
      model,
      sendHttp: async (request) => (sent.push(request), answer({ found: true })),
      openSecrets: async (value) => value,
      now: () => clock.now,
      sleep: async () => {},
      ...world,
    },
    say: (token, last, speech) => {
      tokens.push({ token, last, ...speech });
      open += token;
      if (!last) return;
      utterances.push(open);
      open = '';
    },
  });
  const events = (type: string) => memory.events.filter((event) => event.type === type).map(({ payload }) => payload);
  const history = () => store.messages().map(({ role, text, isCut }) => `${role}: ${text}${isCut ? ' ...' : ''}`);
  return { conversation, store, memory, clock, utterances, tokens, sent, events, history, unsaid: () => open };
}

export const answer = (body: Json, status = 200): GuardedResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
  is_cut: false,
});

/** Why the provider would refuse a history, or null: every tool call is answered by the messages behind it, and nothing else is. */
export function historyFault(messages: readonly ConversationMessage[]): string | null {
  let open = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') {
      if (typeof message.content !== 'string') return `no answer: ${message.tool_call_id}`;
      if (!open.delete(message.tool_call_id)) return `an answer to nothing: ${message.tool_call_id}`;
      continue;
    }
    if (open.size > 0) return `without an answer: ${[...open].join(', ')}`;
    if (message.role === 'assistant') open = new Set(message.tool_calls?.map(({ id }) => id));
  }
  return open.size > 0 ? `without an answer: ${[...open].join(', ')}` : null;
}
