import { z } from 'zod';
import { parseJson } from '../../src/library/json/json.ts';

const maxTextCharacters = 10_000;
const text = z.string().transform((value) => value.slice(0, maxTextCharacters));

/**
 * A frame of a carrier's conversation relay: https://www.twilio.com/docs/voice/conversationrelay/websocket-messages,
 * https://developers.telnyx.com/api-reference/websockets/conversationrelay-websocket-channel. `callSid` is the id of the call in callbacks.
 */
const Frame = z.discriminatedUnion('type', [
  z.object({ type: z.literal('setup'), sessionId: z.string().min(1).max(200), callSid: z.string().max(200).optional() }),
  /** Without `last` the person has not finished. */
  z.object({ type: z.literal('prompt'), voicePrompt: text, last: z.boolean().default(true) }),
  z.object({ type: z.literal('interrupt'), utteranceUntilInterrupt: text.default('') }),
  z.object({ type: z.literal('dtmf'), digit: z.string().regex(/^[0-9A-D*#]$/) }),
  z.object({ type: z.literal('error'), description: text.default('') }),
]);

export type RelayFrame = z.output<typeof Frame>;

const maxFrameCharacters = 256 * 1024;

/** Parses a frame. Answers the frame, or its fault without its content. */
export function parseRelayFrame(data: string | ArrayBuffer): RelayFrame | { fault: string } {
  if (typeof data !== 'string') return { fault: 'it is binary' };
  if (data.length > maxFrameCharacters) return { fault: `it has ${data.length} characters` };
  let value: unknown;
  try {
    value = parseJson(data);
  } catch {
    return { fault: 'it is no JSON' };
  }
  const parsed = Frame.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return { fault: [issue!.path.join('.'), issue!.message].filter((part) => part !== '').join(': ') };
}

/** Keys that follow each other within this time form one number. */
export const keyGapMs = 1_500;
const maxKeys = 32;

/**
 * Adds a pressed key. A number ends with `#`, which is not part of it, or after `keyGapMs` without a key. A `#` alone is a key like others.
 * `finished`: the complete number.
 */
export function addPressedKey(before: string, key: string): { pending: string } | { finished: string } {
  if (key === '#') return { finished: before === '' ? '#' : before };
  const keys = before + key;
  return keys.length < maxKeys ? { pending: keys } : { finished: keys };
}

/** Pressed keys as words for the agent, before words that the person said. */
export const formatPressedKeys = (keys: string, said = ''): string =>
  [...(keys === '' ? [] : [`pressed ${keys}`]), ...(said.trim() === '' ? [] : [said])].join('. ');
