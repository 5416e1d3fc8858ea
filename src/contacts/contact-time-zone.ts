import { isTimeZone } from '../library/time-zones.ts';
import type { ContactRecord } from './records.ts';

export type TimeZoneRule = 'contact' | 'country' | 'organization';

export function contactTimeZone(contact: ContactRecord | null, organization: { timezone: string }): { zone: string; rule: TimeZoneRule } {
  const zone = contact?.custom_fields['timezone'];
  return typeof zone === 'string' && isTimeZone(zone) ? { zone, rule: 'contact' } : { zone: organization.timezone, rule: 'organization' };
}
