import { contactTimeZone, type TimeZoneRule } from '../../../contacts/contacts/contact-time-zone.ts';
import type { ContactRecord } from '../../../contacts/contacts/records.ts';
import type { Scope } from '../../../expressions/templates/render.ts';

/** The zone that a node's or setting's `timezone` means for this run, and the rule that it was found by. */
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

/** For a person who asks why: the zone and how it was found. */
export const describeTimeZone = (zone: string, rule: TimeZoneRule | 'fixed'): string => `in ${zone}${ruleDescriptions[rule]}`;
