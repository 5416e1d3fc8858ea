import { openSecrets } from '../../automation-workflows/secrets.ts';
import type { Clock } from '../../library/clock.ts';
import { outsideRules } from '../../providers/http/outside-rules.ts';
import { sendOutside } from '../../providers/http/send.ts';
import { languageModel } from '../../providers/language-model/language-model.ts';
import type { Settings } from '../../settings.ts';
import { conversationSettings } from '../agents/configurations.ts';
import type { ConversationStore, Say, Surroundings } from '../conversation/contract.ts';
import { Conversation } from '../conversation/conversation.ts';
import type { Guards } from '../conversation/guards.ts';
import { parseAgentDefinition } from '../definition/definition.ts';
import type { CallFacts } from './call-facts.ts';

/** About 150 words a minute. */
const spokenCharacterMs = 65;
/** Whoever writes may take his time; a chat ends by a timer of its own. */
const patient: Guards = { maxCallDurationSeconds: Infinity, maxUserIdleSeconds: Infinity };

interface Place {
  store: ConversationStore;
  say: Say;
  retrieve: Surroundings['retrieve'];
  settings: Settings;
  now: Clock;
}

/** The agent of a call or a chat, as the facts have it, on what has been said so far. */
export function liveConversation(facts: CallFacts, { store, say, retrieve, settings, now }: Place): Conversation {
  const isChat = facts.mode === 'textchat';
  const { guards, phrases, model } = conversationSettings(facts.configurations);
  return new Conversation({
    setup: {
      key: `call:${facts.runId}`,
      definition: parseAgentDefinition(facts.definition),
      initialContext: facts.initialContext,
      organization: facts.organization,
      model,
      dispositionCodes: facts.dispositionCodes,
      guards: isChat ? patient : guards,
      phrases,
      tools: facts.hasLiveTools ? { live: true } : { live: false, mocks: [] },
      millisecondsACharacter: isChat ? 0 : spokenCharacterMs,
    },
    store,
    say,
    world: {
      model: languageModel(settings),
      sendHttp: (request) => sendOutside(request, outsideRules(settings)),
      open: (value) => openSecrets(settings.ENCRYPTION_KEY, facts.organizationId, value),
      retrieve,
      now,
      sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    },
  });
}
