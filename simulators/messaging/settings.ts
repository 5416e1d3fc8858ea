import { z } from 'zod';
import { readCallSettings, Span, type GivenCallSettings } from '../telephony/settings.ts';
import type { OutboxSettings } from '../telephony/outbox.ts';

const DeliveryMs = Span.default({ from: 20, to: 20 });

/** How the simulated messaging providers behave. */
export interface MessagingSettings extends OutboxSettings {
  /** From one status of a message to the next. */
  delivery_ms: z.output<typeof DeliveryMs>;
}

export type GivenMessagingSettings = Pick<GivenCallSettings, 'callbacks' | 'retry_delays_ms'> & {
  delivery_ms?: z.input<typeof DeliveryMs>;
};

/** Settings from `SIM_CALLBACKS` and `SIM_DELIVERY_MS`; the given ones come first. */
export function readMessagingSettings(
  environment: Record<string, string | undefined>,
  { delivery_ms: deliveryMs, ...given }: GivenMessagingSettings = {},
): MessagingSettings {
  const { callbacks, retry_delays_ms } = readCallSettings(environment, given);
  return { callbacks, retry_delays_ms, delivery_ms: DeliveryMs.parse(deliveryMs ?? (environment['SIM_DELIVERY_MS'] || undefined)) };
}
