import type { RelayOptions } from '../../providers/telephony/telephony.ts';
import type { CarrierKey } from '../../providers/telephony/registry.ts';
import { parseConfigurations } from '../../voice-agents/agents/configurations.ts';
import type { commonSpeech } from '../../voice-agents/agents/speech-configuration.ts';
import { parseAgentDefinition } from '../../voice-agents/definition/definition.ts';
import type { CallSetup } from './call-setup.ts';

/** The voice and speech recognition of an agent. Absent options are the carrier's defaults. */
export type SpeechOptions = Pick<
  RelayOptions,
  'language' | 'voice' | 'ttsProvider' | 'transcriptionProvider' | 'speechModel' | 'hints' | 'isInterruptible'
>;

/** The agent's speech options for the carrier of the call, else its options for all carriers. */
export function toSpeechOptions({
  configurations,
  definition,
  mode,
}: Pick<CallSetup, 'configurations' | 'definition' | 'mode'>): SpeechOptions {
  const { speech, ...common } = parseConfigurations(configurations);
  const own = (speech[mode as CarrierKey] ?? {}) as Partial<Pick<typeof common, keyof typeof commonSpeech>>;
  const language = own.language ?? common.language;
  const voice = own.voice ?? common.voice;
  const ttsProvider = own.tts_provider ?? common.tts_provider;
  const transcriptionProvider = own.transcription_provider ?? common.transcription_provider;
  const speechModel = own.speech_model ?? common.speech_model;
  const hints = own.hints ?? common.hints;
  const nodes = [...parseAgentDefinition(definition).talkNodes.values()];
  return {
    // For a carrier that cannot mark each text as interruptible, this option decides for all texts.
    isInterruptible: nodes.some(({ data }) => data.allow_interrupt) ? 'any' : 'none',
    ...(language !== null && { language }),
    ...(voice !== null && { voice }),
    ...(ttsProvider !== null && { ttsProvider }),
    ...(transcriptionProvider !== null && { transcriptionProvider }),
    ...(speechModel !== null && { speechModel }),
    ...(hints !== null && hints.length > 0 && { hints }),
  };
}
