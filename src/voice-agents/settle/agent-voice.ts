import type { Relay } from '../../providers/telephony/call-document.ts';
import { configurationsOf } from '../agents/configurations.ts';
import { parseAgentDefinition } from '../definition/definition.ts';
import type { CallFacts } from './call-facts.ts';

/** How an agent sounds and hears; absent is what the carrier usually does. */
export type AgentVoice = Pick<Relay, 'language' | 'voice' | 'ttsProvider' | 'transcriptionProvider' | 'isInterruptible'>;

export function voiceOf({ configurations, definition }: Pick<CallFacts, 'configurations' | 'definition'>): AgentVoice {
  const { language, voice, tts_provider, transcription_provider } = configurationsOf(configurations);
  const nodes = [...parseAgentDefinition(definition).talkNodes.values()];
  return {
    // Where the carrier is not told of each text whether it may be interrupted, this is all that it knows.
    isInterruptible: nodes.some(({ data }) => data.allow_interrupt) ? 'any' : 'none',
    ...(language !== null && { language }),
    ...(voice !== null && { voice }),
    ...(tts_provider !== null && { ttsProvider: tts_provider }),
    ...(transcription_provider !== null && { transcriptionProvider: transcription_provider }),
  };
}
