import { z } from 'zod';
import { configWarnings } from '../../simtest/config.ts';
import { configObject, warningsOf, withWarnings, type Warning } from '../../library/config-object.ts';
import { usualGuards, longestCallSeconds, type Guards } from '../conversation/guards.ts';
import { usualPhrases, type Phrases } from '../conversation/phrases.ts';
import { CarrierSpeech, commonSpeech } from './speech.ts';

const text = (maximum: number) => z.string().trim().min(1, 'Must not be empty').max(maximum);
const setOrUsual = (maximum: number) => text(maximum).nullable().default(null);
const phrase = (name: keyof Phrases) => text(1_000).default(usualPhrases[name]);

const RequiredTest = configObject({
  adversary_workflow_id: z.int().positive(),
  /** What it must be is asked when it is saved and when it is run: an older one that is not keeps nobody from talking. */
  config: withWarnings(z.record(z.string(), z.unknown()), configWarnings).default({}),
});

/** `workflow_configurations` of a voice agent: how it talks, wherever in its definition it stands. */
export const AgentConfigurations = configObject({
  /** Null: LANGUAGE_MODEL. */
  model: setOrUsual(100),
  /** Seconds. */
  max_call_duration: z.int().min(10).max(longestCallSeconds).default(usualGuards.maxCallDurationSeconds),
  /** Seconds of silence after which the agent asks whether somebody is there, and after which again it says goodbye. */
  max_user_idle_timeout: z.int().min(1).max(longestCallSeconds).default(usualGuards.maxUserIdleSeconds),
  recording_enabled: z.boolean().default(true),
  ...commonSpeech,
  /** For one carrier alone, with the names that it has. */
  speech: CarrierSpeech.prefault({}),
  /** What the agent says without asking the model. */
  phrases: configObject({
    are_you_there: phrase('are_you_there'),
    idle_goodbye: phrase('idle_goodbye'),
    time_is_up: phrase('time_is_up'),
    apology: phrase('apology'),
    please_repeat: phrase('please_repeat'),
    cannot_say: phrase('cannot_say'),
    goodbye: phrase('goodbye'),
  } satisfies Record<keyof Phrases, z.ZodType>).prefault({}),
  required_tests: z.array(RequiredTest).max(50, 'Must have 50 tests or fewer').default([]),
});

/** The parts of stored or given ones that have no effect. */
export const configurationWarnings = (configurations: unknown): Warning[] =>
  warningsOf(AgentConfigurations, configurations, ['body', 'workflow_configurations']);

export type AgentConfigurations = z.output<typeof AgentConfigurations>;

/** Stored ones, with the defaults of what was not known yet when they were stored. */
export const configurationsOf = (stored: unknown): AgentConfigurations => AgentConfigurations.parse(stored);

export interface ConversationSettings {
  guards: Guards;
  phrases: Phrases;
  /** Undefined: LANGUAGE_MODEL. */
  model: string | undefined;
}

/** What stored configurations mean for a conversation, as its setup takes it. */
export function conversationSettings(stored: unknown): ConversationSettings {
  const { model, max_call_duration, max_user_idle_timeout, phrases } = configurationsOf(stored);
  return {
    guards: { maxCallDurationSeconds: max_call_duration, maxUserIdleSeconds: max_user_idle_timeout },
    phrases,
    model: model ?? undefined,
  };
}
