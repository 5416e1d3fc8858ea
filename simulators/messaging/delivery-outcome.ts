/** The result of a message to a number. */
export type DeliveryOutcome = 'delivered' | 'not_on_channel' | 'window_closed' | 'rate_limited' | 'opted_out';

const outcomeByEnding: Record<string, DeliveryOutcome> = {
  '0011': 'not_on_channel',
  '0012': 'window_closed',
  '0013': 'rate_limited',
  '0014': 'opted_out',
};

/** The result by the last four digits. A template, too, fails at a number with a closed window, so that every failure can be tested. */
export const toDeliveryOutcome = (phone: string): DeliveryOutcome => outcomeByEnding[phone.replace(/\D/g, '').slice(-4)] ?? 'delivered';

/** A number as most providers want it: digits of an international number without the plus. */
export const isPlainNumber = (text: string): boolean => /^[1-9]\d{6,14}$/.test(text);
