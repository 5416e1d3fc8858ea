import { telnyxCarrier } from './telnyx/adapter.ts';
import type { CarrierAdapter } from './telephony.ts';
import { twilioCarrier } from './twilio/adapter.ts';

/** The carriers, under the names that configurations and calls have in the API. */
export const carriers = { twilio: twilioCarrier, telnyx: telnyxCarrier } as const satisfies Record<string, CarrierAdapter>;

export type CarrierKey = keyof typeof carriers;

export const carrierKeys = Object.keys(carriers) as [CarrierKey, ...CarrierKey[]];

/** One value for each carrier, under its key. */
export const mapCarriers = <T>(make: (key: CarrierKey, adapter: CarrierAdapter) => T): Record<CarrierKey, T> =>
  Object.fromEntries(carrierKeys.map((key) => [key, make(key, carriers[key])])) as Record<CarrierKey, T>;

const adapters = new Map<string, CarrierAdapter>(Object.entries(carriers));

/** The adapter of a carrier; undefined for another name, such as the mode of a chat. */
export const findCarrierAdapter = (key: string): CarrierAdapter | undefined => adapters.get(key);

/** The adapter of a carrier. Throws for another name. */
export function carrierAdapter(key: string): CarrierAdapter {
  const adapter = adapters.get(key);
  if (!adapter) throw new Error(`there is no carrier "${key}"`);
  return adapter;
}

/** Adds a carrier in a test. The returned function removes it. */
export function registerCarrier(key: string, adapter: CarrierAdapter): () => void {
  adapters.set(key, adapter);
  return () => void adapters.delete(key);
}
