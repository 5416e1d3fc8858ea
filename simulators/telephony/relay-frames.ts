import { z } from 'zod';

const language = z.string().min(1);
const common = { interruptible: z.boolean().optional(), preemptible: z.boolean().optional() };

/** The part that Telnyx documents. Its behaviour beyond that is unknown. */
const PlainText = z.strictObject({ type: z.literal('text'), token: z.string().min(1), last: z.boolean().default(false) });

const otherFrames = [
  z.strictObject({ type: z.literal('play'), source: z.url(), loop: z.int().min(0).max(1000).optional(), ...common }),
  z.strictObject({ type: z.literal('sendDigits'), digits: z.string().regex(/^[0-9A-DwW#*]+$/) }),
  z
    .strictObject({ type: z.literal('language'), ttsLanguage: language.optional(), transcriptionLanguage: language.optional() })
    .refine(({ ttsLanguage, transcriptionLanguage }) => ttsLanguage ?? transcriptionLanguage, 'names no language'),
  z.strictObject({ type: z.literal('end'), handoffData: z.string().optional() }),
] as const;

/** The frames that the customer may send over the relay socket (https://www.twilio.com/docs/voice/conversationrelay/websocket-messages). */
const Frame = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), token: z.string(), last: z.boolean().default(false), lang: language.optional(), ...common }),
  ...otherFrames,
]);
const PlainFrame = z.discriminatedUnion('type', [PlainText, ...otherFrames]);

export type Frame = z.output<typeof Frame> | z.output<typeof PlainFrame>;

/** The frame, or a sentence that says why it is invalid. `isPlain`: texts have no options and are never empty, as at Telnyx. */
export function readFrame(text: string, isPlain = false): Frame | { fault: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { fault: 'is no JSON' };
  }
  const parsed = (isPlain ? PlainFrame : Frame).safeParse(value);
  return parsed.success ? parsed.data : { fault: z.prettifyError(parsed.error) };
}
