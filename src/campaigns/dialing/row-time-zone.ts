import { contactTimeZone } from '../../contacts/contacts/contact-time-zone.ts';
import type { NoCallingWindow } from './calling-windows.ts';
import type { ScheduleConfig } from '../configs/configs.ts';

export type RowTimeZone = { zone: string; rule: 'contact' | 'country' | 'campaign' } | { never: NoCallingWindow };

/**
 * Whose clock a row is called by. With `use_contact_timezone`: the zone that its variable `timezone` (or `time_zone`) names, else that of
 * the number's country when there is just one, else the campaign's. Who names an unknown zone, in a country of several, has none.
 */
export function findRowTimeZone(
  { phone, variables }: { phone: string; variables: Record<string, unknown> },
  schedule: Pick<ScheduleConfig, 'timezone' | 'use_contact_timezone'>,
  now: number,
): RowTimeZone {
  if (!schedule.use_contact_timezone) return { zone: schedule.timezone, rule: 'campaign' };
  const named = variables['timezone'] || variables['time_zone'];
  const { zone, rule } = contactTimeZone({ phone, custom_fields: { timezone: named } }, schedule, now);
  if (rule !== 'organization') return { zone, rule };
  if (named === undefined || named === null || String(named).trim() === '') return { zone, rule: 'campaign' };
  const shown = String(named).slice(0, 60);
  const detail = `"${shown}" is no time zone, and the number's country has several; use a name such as America/New_York`;
  return { never: { reason: 'unknown_timezone', detail } };
}
