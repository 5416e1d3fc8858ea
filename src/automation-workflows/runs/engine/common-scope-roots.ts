import type { Context } from '../../../context.ts';
import type { ContactRecord } from '../../../contacts/contacts/records.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import type { DeliveryPayload } from '../queries/records.ts';
import type { ScopeRoots } from '../../../expressions/templates/scope.ts';

/** What set something off, as templates and conditions see it. */
export interface Origin {
  event: { id: number | null; type: string; data: unknown; created_at: string } | null;
  webhook: DeliveryPayload | null;
  initialContext: Record<string, unknown>;
}

/** The roots that triggers and runs have in common. `now` in epoch milliseconds. */
export function buildCommonRoots(
  { organization }: Context,
  { event, webhook, initialContext }: Origin,
  contact: ContactRecord | null,
  now: number,
): ScopeRoots {
  return {
    contact,
    event,
    data: event?.data ?? webhook?.body ?? initialContext,
    webhook: webhook && { body: webhook.body, raw: webhook.raw, headers: webhook.headers, query: webhook.query },
    organization: {
      id: organization.id,
      name: organization.name,
      timezone: organization.timezone,
      default_country: organization.defaultCountry,
    },
    now: toTimestamp(now),
  };
}
