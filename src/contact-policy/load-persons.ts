import type { Context } from '../context.ts';
import { personTimeZones } from '../contacts/contacts/contact-time-zone.ts';
import type { Person } from './decide-contact.ts';
import { loadPublicHolidays, type PublicHolidays } from './public-holidays/public-holidays.ts';
import type { Channel, ContactPolicy } from './policy.ts';
import { type PersonConsentRow, selectConsents, selectPersons } from './store.ts';

/** What a custom field says for yes. */
const yes = new Set(['true', '1', 'yes', 'y', 'on']);

/** Reads what the rules have to know of the persons of these contacts, with one D1 call. */
export async function loadPersons(
  context: Context,
  policy: ContactPolicy,
  contacts: readonly { phone: string; channel: Channel }[],
): Promise<(contact: { phone: string; channel: Channel }) => Person> {
  const { database, organization, clock } = context;
  const now = clock();
  const field = policy.consent?.custom_field ?? null;
  const phones = JSON.stringify([...new Set(contacts.map(({ phone }) => phone))]);
  const [found, consents] = await database.batch([
    selectPersons(database, organization.id, phones, field),
    selectConsents(database, organization.id, phones),
  ]);
  const fieldsByPhone = new Map(found.map(({ phone, fields }) => [phone, JSON.parse(fields) as Record<string, unknown>]));
  const places = new Map<string, ReturnType<typeof personTimeZones>>();
  for (const { phone } of contacts) places.set(phone, personTimeZones(phone, fieldsByPhone.get(phone) ?? {}, organization, now));
  const countryOf = (phone: string) => places.get(phone)!.country ?? organization.defaultCountry;
  const holidays = await loadHolidays(policy, [...new Set([...places.keys()].map(countryOf))]);
  const dates = new Set(policy.days_off?.dates);
  return ({ phone, channel }) => ({
    zones: places.get(phone)!.zones,
    dayOff: (date) => (dates.has(date) ? `the day off ${date}` : holidays(countryOf(phone), date)),
    hasConsent: hasConsent(
      consents.filter((consent) => consent.phone === phone),
      channel,
      field === null ? undefined : fieldsByPhone.get(phone)?.[field],
    ),
  });
}

const noHolidays: PublicHolidays = () => null;

async function loadHolidays({ days_off: daysOff }: ContactPolicy, countries: string[]): Promise<PublicHolidays> {
  return daysOff?.public_holidays ? loadPublicHolidays(countries) : noHolidays;
}

/** The newest recorded consent of the channel decides; without one, the custom field. */
function hasConsent(consents: PersonConsentRow[], channel: Channel, fieldValue: unknown): boolean {
  const [newest] = consents
    .filter((consent) => consent.channel === channel || consent.channel === 'any')
    .toSorted((one, other) => other.at - one.at || other.id - one.id);
  return newest ? newest.is_given === 1 : yes.has(String(fieldValue).trim().toLowerCase());
}
