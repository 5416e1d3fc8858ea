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

/** Words that whoever listens is to recognize, such as names of products; some carriers take them with commas in between. */
const hints = z
  .array(text(100).regex(/^[^,]*$/, 'Must not have a comma; give each word or phrase as an item of its own'))
  .max(100, 'Must have 100 hints or fewer')
  .nullable()
  .default(null);

/** One of a carrier's names, in any case. It may have got more of them, so another one is kept, and warned of. */
function carrierOption(carrier: string, names: readonly string[]) {
  const knownOf = (given: string) => names.find((name) => name.toLowerCase() === given.trim().toLowerCase());
  const schema = text(50)
    .overwrite((given) => knownOf(given) ?? given)
    .nullable()
    .default(null);
  return withWarnings(schema, (given, loc) =>
    typeof given === 'string' && knownOf(given) === undefined
      ? [{ loc, msg: `"${given.slice(0, 50)}" is not known of ${carrier}, which may refuse it; known are ${names.join(', ')}` }]
      : [],
  );
}

/** What every carrier is told, unless a block of its own says otherwise. */
export const commonSpeech = {
  /** Null, here and in what follows: what the carrier usually does. */
  language,
  voice: optionalText(200),
  tts_provider: optionalText(50),
  transcription_provider: optionalText(50),
  speech_model: optionalText(100),
  hints,
};

/** What one carrier alone is told, with the names that the carrier has. */
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
