import { z } from 'zod';
import { configObject, collectWarnings, withWarnings, type Warning } from '../../library/json/config-object.ts';
import type { AgentWithDefinition } from './store.ts';
import { agentChangeGate, type RequiredTest } from './change-gate.ts';
import { defaultGuards, maxCallSeconds, type Guards } from '../conversation/guards.ts';
import { defaultPhrases, type Phrases } from '../conversation/phrases.ts';
import { CarrierSpeech, commonSpeech } from './speech-configuration.ts';

const text = (maximum: number) => z.string().trim().min(1, 'Must not be empty').max(maximum);
const optionalText = (maximum: number) => text(maximum).nullable().default(null);
const phraseText = (name: keyof Phrases) => text(1_000).default(defaultPhrases[name]);

const RequiredTestConfiguration = configObject({
  adversary_workflow_id: z.int().positive(),
  /** Checked when the agent is saved and when the test is run. A stored config that has become invalid does not stop calls. */
  config: withWarnings(z.record(z.string(), z.unknown()), (config, loc) => agentChangeGate().findTestConfigWarnings(config, loc)).default(
    {},
  ),
});

/** The `workflow_configurations` of a voice agent: settings of every node. */
export const AgentConfigurations = configObject({
  /** The name of one of the organization's language models, or the provider's name of a model. Null: the first of the organization's models for talks, else the setting LANGUAGE_MODEL. */
  model: optionalText(100),
  /** Seconds. */
  max_call_duration: z.int().min(10).max(maxCallSeconds).default(defaultGuards.maxCallDurationSeconds),
  /** Seconds of silence after which the agent asks whether anybody is there, and after as many again says goodbye. */
  max_user_idle_timeout: z.int().min(1).max(maxCallSeconds).default(defaultGuards.maxUserIdleSeconds),
  recording_enabled: z.boolean().default(true),
  /** Said to an answering machine after its greeting, a template. Null: the agent hangs up on machines. */
  voicemail_message: optionalText(2_000),
  ...commonSpeech,
  /** Settings of one carrier, with that carrier's names. */
  speech: CarrierSpeech.prefault({}),
  /** The texts that the agent says without asking the model. */
  phrases: configObject({
    are_you_there: phraseText('are_you_there'),
    idle_goodbye: phraseText('idle_goodbye'),
    time_is_up: phraseText('time_is_up'),
    apology: phraseText('apology'),
    please_repeat: phraseText('please_repeat'),
    cannot_say: phraseText('cannot_say'),
    goodbye: phraseText('goodbye'),
    transferring: phraseText('transferring'),
    transfer_failed: phraseText('transfer_failed'),
    transfer_introduction: phraseText('transfer_introduction'),
  } satisfies Record<keyof Phrases, z.ZodType>).prefault({}),
  required_tests: z.array(RequiredTestConfiguration).max(50, 'Must have 50 tests or fewer').default([]),
});

/** The parts of configurations that have no effect. */
export const findConfigurationWarnings = (configurations: unknown): Warning[] =>
  collectWarnings(AgentConfigurations, configurations, ['body', 'workflow_configurations']);

export type AgentConfigurations = z.output<typeof AgentConfigurations>;

/** Parses stored configurations; settings that are newer than the row get their defaults. */
export const parseConfigurations = (stored: unknown): AgentConfigurations => AgentConfigurations.parse(stored);

export const parseRequiredTests = ({
  workflow_configurations: stored,
}: Pick<AgentWithDefinition, 'workflow_configurations'>): RequiredTest[] => parseConfigurations(stored).required_tests;

export interface ConversationSettings {
  guards: Guards;
  phrases: Phrases;
  /** Undefined: the first of the organization's models for talks, else the setting LANGUAGE_MODEL. */
  model: string | undefined;
}

/** The settings of a conversation, from stored configurations. */
export function toConversationSettings(stored: unknown): ConversationSettings {
  const { model, max_call_duration, max_user_idle_timeout, phrases } = parseConfigurations(stored);
  return {
    guards: { maxCallDurationSeconds: max_call_duration, maxUserIdleSeconds: max_user_idle_timeout },
    phrases,
    model: model ?? undefined,
  };
}
