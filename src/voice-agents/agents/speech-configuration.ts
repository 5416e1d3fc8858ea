import { z } from 'zod';
import { mapCarriers } from '../../providers/telephony/registry.ts';
import type { CarrierAdapter } from '../../providers/telephony/telephony.ts';
import { configObject, withWarnings } from '../../library/json/config-object.ts';

const text = (maximum: number) => z.string().trim().min(1, 'Must not be empty').max(maximum);
const optionalText = (maximum: number) => text(maximum).nullable().default(null);

const isLanguage = (tag: string): boolean => {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
};

/** BCP 47. */
const language = z.string().max(35).refine(isLanguage, 'Not a language tag (BCP 47), such as "en-US"').nullable().default(null);

/** Words that speech recognition should expect, such as product names. Some carriers take them separated by commas. */
const hints = z
  .array(text(100).regex(/^[^,]*$/, 'Must not have a comma; give each word or phrase as an item of its own'))
  .max(100, 'Must have 100 hints or fewer')
  .nullable()
  .default(null);

/** A name of the carrier's list, in any case. The carrier may have added names, so an unknown one is kept, with a warning. */
function carrierOption(carrier: string, names: readonly string[]) {
  const toKnownName = (given: string) => names.find((name) => name.toLowerCase() === given.trim().toLowerCase());
  const schema = text(50)
    .overwrite((given) => toKnownName(given) ?? given)
    .nullable()
    .default(null);
  return withWarnings(schema, (given, loc) =>
    typeof given === 'string' && toKnownName(given) === undefined
      ? [{ loc, msg: `"${given.slice(0, 50)}" is not known of ${carrier}, which may refuse it; known are ${names.join(', ')}` }]
      : [],
  );
}

/** The settings of speech for every carrier; the block of one carrier overrides them. */
export const commonSpeech = {
  /** Null, here and below: the carrier's default. */
  language,
  voice: optionalText(200),
  tts_provider: optionalText(50),
  transcription_provider: optionalText(50),
  speech_model: optionalText(100),
  hints,
};

/** The settings of speech for one carrier, restricted to the names that it has. */
function carrierSpeech({ name, speech: { ttsProviders, transcriptionProviders, hasHints } }: CarrierAdapter) {
  const { hints: words, ...others } = commonSpeech;
  return configObject({
    ...others,
    ...(hasHints && { hints: words }),
    ...(ttsProviders && { tts_provider: carrierOption(name, ttsProviders) }),
    ...(transcriptionProviders && { transcription_provider: carrierOption(name, transcriptionProviders) }),
  });
}

export const CarrierSpeech = configObject(mapCarriers((_key, adapter) => carrierSpeech(adapter).prefault({})));
