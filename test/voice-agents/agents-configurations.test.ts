import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  AgentConfigurations,
  findConfigurationWarnings,
  parseConfigurations,
  toConversationSettings,
} from '../../src/voice-agents/agents/configurations.ts';
import { prepareConfigurations } from '../../src/voice-agents/agents/prepare-change.ts';
import { defaultGuards } from '../../src/voice-agents/conversation/guards.ts';
import { defaultPhrases } from '../../src/voice-agents/conversation/phrases.ts';

const stored = (...args: Parameters<typeof prepareConfigurations>) => JSON.parse(prepareConfigurations(...args));
const places = (configurations: Record<string, unknown>): string[] => {
  try {
    prepareConfigurations(configurations);
  } catch (error) {
    return (error as { issues: { loc: string[] }[] }).issues.map(({ loc }) => loc.join('.'));
  }
  return [];
};

test('nothing configured is what the engine does by itself', () => {
  expect(toConversationSettings({})).toEqual({ guards: defaultGuards, phrases: defaultPhrases, model: undefined });
  expect(stored(null)).toMatchObject({ max_call_duration: 300, max_user_idle_timeout: 10, recording_enabled: true, required_tests: [] });
});

test('what is configured reaches the engine in its own words', () => {
  const settings = toConversationSettings({ model: 'big', max_call_duration: 1200, max_user_idle_timeout: 4, phrases: { goodbye: 'Bye' } });
  expect(settings).toEqual({
    model: 'big',
    guards: { maxCallDurationSeconds: 1200, maxUserIdleSeconds: 4 },
    phrases: { ...defaultPhrases, goodbye: 'Bye' },
  });
});

test('a wrong value is refused by name', () => {
  const wrong = (configurations: Record<string, unknown>) =>
    places(configurations).map((loc) => loc.replace('body.workflow_configurations.', ''));
  expect(wrong({ max_call_duration: 1201 })).toEqual(['max_call_duration']);
  expect(wrong({ max_call_duration: 299.5, max_user_idle_timeout: 0 })).toEqual(['max_call_duration', 'max_user_idle_timeout']);
  expect(wrong({ model: ' ' })).toEqual(['model']);
  expect(wrong({ language: 'english, please' })).toEqual(['language']);
  expect(wrong({ hints: ['one, two'] })).toEqual(['hints.0']);
  expect(wrong({ speech: { twilio: { language: 'english, please', tts_provider: '' } } })).toEqual([
    'speech.twilio.language',
    'speech.twilio.tts_provider',
  ]);
  expect(wrong({ phrases: { goodbye: '' } })).toEqual(['phrases.goodbye']);
  expect(wrong({ recording_enabled: 'yes' })).toEqual(['recording_enabled']);
  expect(wrong({ required_tests: [{ config: {} }] })).toEqual(['required_tests.0.adversary_workflow_id']);
});

test('an unknown key is kept, warned of, and removed by null', () => {
  const given = {
    max_duration: 5,
    phrases: { hello: 'Hi' },
    required_tests: [{ adversary_workflow_id: 3, config: { turns: 3 }, name: 'x' }],
  };
  const first = stored(given);
  expect(first).toMatchObject(given);
  expect(findConfigurationWarnings(first).map(({ loc, msg }) => `${loc.slice(2).join('.')}: ${msg}`)).toEqual([
    'phrases.hello: `hello` is not known and has no effect; known here: `are_you_there`, `idle_goodbye`, `time_is_up`, `apology`, `please_repeat`, `cannot_say`, `goodbye`, `transferring`, `transfer_failed`, `transfer_introduction`',
    'required_tests.0.config.turns: `turns` is not known and has no effect; did you mean `max_turns`?',
    'required_tests.0.name: `name` is not known and has no effect; known here: `adversary_workflow_id`, `config`',
    'max_duration: `max_duration` is not known and has no effect; did you mean `max_call_duration`?',
  ]);
  const second = stored({ max_duration: null, phrases: { goodbye: 'Bye' } }, first);
  expect(second).not.toHaveProperty('max_duration');
  expect(second).toMatchObject({ phrases: { hello: 'Hi', goodbye: 'Bye' } });
});

test('the names of a carrier are kept as it writes them, and one that it is not known to have is warned of', () => {
  const given = {
    speech: {
      twilio: { tts_provider: 'elevenlabs', transcription_provider: 'DEEPGRAM' },
      telnyx: { transcription_provider: 'Whisper', hints: ['Acme'] },
    },
  };
  const first = stored(given);
  expect(first.speech).toMatchObject({
    twilio: { tts_provider: 'ElevenLabs', transcription_provider: 'Deepgram', hints: null },
    telnyx: { transcription_provider: 'Whisper' },
  });
  expect(findConfigurationWarnings(first).map(({ loc, msg }) => `${loc.slice(2).join('.')}: ${msg}`)).toEqual([
    expect.stringMatching(
      /^speech\.telnyx\.transcription_provider: "Whisper" is not known of Telnyx, which may refuse it; known are Google, /,
    ),
    expect.stringMatching(/^speech\.telnyx\.hints: `hints` is not known/),
  ]);
});

test('absent keys stay, null is the default again, and phrases change one by one', () => {
  const first = stored({ language: 'de-DE', max_call_duration: 60, phrases: { goodbye: 'Tschüss', apology: 'Verzeihung' } });
  const second = stored({ max_call_duration: null, phrases: { apology: null, time_is_up: 'Die Zeit ist um' } }, first);
  expect(second).toEqual({
    ...first,
    max_call_duration: 300,
    phrases: { ...defaultPhrases, goodbye: 'Tschüss', time_is_up: 'Die Zeit ist um' },
  });
  expect(stored(null, first)).toEqual(stored(null));
  expect(stored({ phrases: { goodbye: null } })).toEqual(stored(null));
});

test('whatever is accepted stays as it is when it is stored and read again', () => {
  const configurations = fc.record(
    {
      model: fc.constantFrom('a', 'gpt-6-luna'),
      max_call_duration: fc.integer({ min: 10, max: 1200 }),
      max_user_idle_timeout: fc.integer({ min: 1, max: 1200 }),
      recording_enabled: fc.boolean(),
      language: fc.constantFrom('en', 'en-US', 'zh-Hant-TW'),
      required_tests: fc.array(fc.record({ adversary_workflow_id: fc.integer({ min: 1 }) }), { maxLength: 3 }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(configurations, (given) => {
      const once = stored(given);
      expect(parseConfigurations(once)).toEqual(once);
      expect(stored({}, once)).toEqual(once);
      expect(AgentConfigurations.parse(given)).toEqual(once);
    }),
  );
});
