import { openSecrets } from '../../expressions/secrets/secrets.ts';
import { createConversationModel } from '../../language-models/purpose-models.ts';
import type { Clock } from '../../library/time/clock.ts';
import { urlPolicy } from '../../providers/http/url-policy.ts';
import { sendGuardedRequest } from '../../providers/http/guarded-request.ts';
import type { Settings } from '../../settings.ts';
import { toConversationSettings } from '../../voice-agents/agents/configurations.ts';
import type { ConversationStore, SpeechSink, ConversationDependencies } from '../../voice-agents/conversation/contract.ts';
import { Conversation } from '../../voice-agents/conversation/conversation.ts';
import type { Guards } from '../../voice-agents/conversation/guards.ts';
import { parseAgentDefinition } from '../../voice-agents/definition/definition.ts';
import type { CallSetup } from './call-setup.ts';

/** About 150 words a minute. */
export const spokenCharacterMs = 65;
/** A person who writes may take any time; a chat ends by its own timer. */
const chatGuards: Guards = { maxCallDurationSeconds: Infinity, maxUserIdleSeconds: Infinity };

interface CreateConversationOptions {
  store: ConversationStore;
  say: SpeechSink;
  retrieve: ConversationDependencies['retrieve'];
  /** Absent: a chat, from which nobody is called. */
  sendSummary?: ConversationDependencies['sendSummary'];
  settings: Settings;
  now: Clock;
}

/** Creates the conversation of a call or chat from its setup, on top of the stored messages. */
export function createConversation(
  setup: CallSetup,
  { store, say, retrieve, sendSummary, settings, now }: CreateConversationOptions,
): Conversation {
  const isChat = setup.mode === 'textchat';
  const { guards, phrases, model } = toConversationSettings(setup.configurations);
  return new Conversation({
    setup: {
      key: `call:${setup.runId}`,
      definition: parseAgentDefinition(setup.definition),
      initialContext: setup.initialContext,
      organization: setup.organization,
      model,
      dispositionCodes: setup.dispositionCodes,
      guards: isChat ? chatGuards : guards,
      phrases,
      hasLine: !isChat,
      tools: setup.hasLiveTools ? { live: true } : { live: false, mocks: [] },
      millisecondsPerCharacter: isChat ? 0 : spokenCharacterMs,
    },
    store,
    say,
    dependencies: {
      model: createConversationModel(settings, setup.organizationId, setup.languageModels ?? []),
      sendHttp: (request) => sendGuardedRequest(request, urlPolicy(settings)),
      openSecrets: (value) => openSecrets(settings.ENCRYPTION_KEY, setup.organizationId, value),
      retrieve,
      sendSummary,
      now,
      sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    },
  });
}
