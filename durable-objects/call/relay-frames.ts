import { z } from 'zod';
import { parseJson } from '../../src/library/json/json.ts';

const maxTextCharacters = 10_000;
const text = z.string().transform((value) => value.slice(0, maxTextCharacters));

/**
 * What a carrier's conversation relay sends: https://www.twilio.com/docs/voice/conversationrelay/websocket-messages,
 * https://developers.telnyx.com/api-reference/websockets/conversationrelay-websocket-channel. `callSid` is the call as its callbacks name it.
 */
const Frame = z.discriminatedUnion('type', [
  z.object({ type: z.literal('setup'), sessionId: z.string().min(1).max(200), callSid: z.string().max(200).optional() }),
  /** Without `last` the other side has not finished. */
  z.object({ type: z.literal('prompt'), voicePrompt: text, last: z.boolean().default(true) }),
  z.object({ type: z.literal('interrupt'), utteranceUntilInterrupt: text.default('') }),
  z.object({ type: z.literal('dtmf'), digit: z.string().regex(/^[0-9A-D*#]$/) }),
  z.object({ type: z.literal('error'), description: text.default('') }),
]);

export type RelayFrame = z.output<typeof Frame>;

const maxFrameCharacters = 256 * 1024;

/** The frame, or what is wrong with it, without its content. */
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
