import type { Relay } from '../../providers/telephony/call-document.ts';
import { configurationsOf } from '../agents/configurations.ts';

/** How an agent sounds and hears; absent is what the carrier usually does. */
export type AgentVoice = Pick<Relay, 'language' | 'voice' | 'ttsProvider' | 'transcriptionProvider'>;

/** `configurations`: `workflow_configurations` as stored. */
export function voiceOf(configurations: unknown): AgentVoice {
  const { language, voice, tts_provider, transcription_provider } = configurationsOf(configurations);
  return {
    ...(language !== null && { language }),
    ...(voice !== null && { voice }),
    ...(tts_provider !== null && { ttsProvider: tts_provider }),
    ...(transcription_provider !== null && { transcriptionProvider: transcription_provider }),
  };
}
