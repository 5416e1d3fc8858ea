import { z } from 'zod';
import { LocalError } from '../../scripts/local/settings.ts';

/** Milliseconds, `50`, or a range, `50-150`, out of which every phone number gets its own, the same each time. */
export const Span = z
  .union([z.number(), z.string().regex(/^\d+(?:-\d+)?$/, 'must be milliseconds, such as 50 or 50-150')])
  .transform((given) => {
    const [from, to] = String(given).split('-').map(Number) as [number, number | undefined];
    return { from, to: to ?? from };
  })
  .refine(({ from, to }) => from >= 0 && to >= from, 'must be a range from less to more');

export type Span = z.output<typeof Span>;

const milliseconds = z.coerce.number().int().min(0);

/** How the simulated carriers behave. */
export const CallSettingsSchema = z.strictObject({
  /** From dialling to the answer or another result. */
  ring_ms: Span.default({ from: 50, to: 50 }),
  /** From the agent's words to the person's answer. */
  turn_ms: Span.default({ from: 20, to: 20 }),
  /** How long a human talks with a caller who was handed to them. */
  human_ms: Span.default({ from: 100, to: 100 }),
  /** How long the carrier takes to accept a call. */
  accept_ms: milliseconds.default(0),
  /** Calls dialled a second for each account; further calls wait. 0: no limit. */
  calls_per_second: z.coerce.number().min(0).default(0),
  /** How long a person listens to silence before they hang up. */
  patience_ms: milliseconds.default(15_000),
  /** How long Telnyx's links to recordings are valid. */
  link_ms: milliseconds.default(600_000),
  /** Whether the accounts at Twilio have ConversationRelay switched on. */
  has_relay: z.boolean().default(true),
  /** `hold`: no callback is sent; all wait at `/__sim/due` for a test to deliver them. */
  callbacks: z.enum(['send', 'hold']).default('send'),
  /** Waits before a callback is tried again. */
  retry_delays_ms: z.array(milliseconds).default([200, 1000, 4000]),
});

export type CallSettings = z.output<typeof CallSettingsSchema>;
export type GivenCallSettings = z.input<typeof CallSettingsSchema>;

const variables = {
  SIM_RING_MS: 'ring_ms',
  SIM_TURN_MS: 'turn_ms',
  SIM_HUMAN_MS: 'human_ms',
  SIM_ACCEPT_MS: 'accept_ms',
  SIM_CPS: 'calls_per_second',
  SIM_PATIENCE_MS: 'patience_ms',
  SIM_CALLBACKS: 'callbacks',
} as const;

/** Settings from the environment; the given ones come first. Throws LocalError for a bad one. */
export function readCallSettings(environment: Record<string, string | undefined>, given: GivenCallSettings = {}): CallSettings {
  const set = Object.entries(variables).flatMap(([variable, name]) => (environment[variable] ? [[name, environment[variable]]] : []));
  const parsed = CallSettingsSchema.safeParse({ ...Object.fromEntries(set), ...given });
  if (parsed.success) return parsed.data;
  throw new LocalError(`The simulated carriers cannot be set up (${Object.keys(variables).join(', ')}): ${z.prettifyError(parsed.error)}`);
}

/** The value of a range for one phone number. */
export function pickWithin({ from, to }: Span, phone: string): number {
  let hash = 7;
  for (const digit of phone) hash = (Math.imul(hash, 31) + digit.codePointAt(0)!) >>> 0;
  return from + (hash % (to - from + 1));
}
