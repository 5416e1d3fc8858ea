import { contactTimeZone, type TimeZoneRule } from '../../../contacts/contacts/contact-time-zone.ts';
import type { ContactRecord } from '../../../contacts/contacts/records.ts';
import type { Scope } from '../../../expressions/templates/render.ts';

/** The IANA zone of a `timezone` field (`contact`, `organization` or a zone) in this run, and the rule that gave the zone. */
export function resolveTimeZone(
  timezone: string,
  scope: Scope,
  organization: { timezone: string; default_country: string },
): { zone: string; rule: TimeZoneRule | 'fixed' } {
  if (timezone === 'organization') return { zone: organization.timezone, rule: 'organization' };
  if (timezone !== 'contact') return { zone: timezone, rule: 'fixed' };
  return contactTimeZone(scope['contact'] as ContactRecord | null, organization);
}

const ruleDescriptions: Record<TimeZoneRule | 'fixed', string> = {
  contact: " (the contact's custom field timezone)",
  country: " (the country of the contact's phone)",
  organization: " (the organization's time zone)",
  fixed: '',
};

/** The zone and its rule, for the `why` of a step. */
export const describeTimeZone = (zone: string, rule: TimeZoneRule | 'fixed'): string => `in ${zone}${ruleDescriptions[rule]}`;
