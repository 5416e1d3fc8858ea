import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import type { MappedContact } from '../../src/contacts/upsert/mapped-contact.ts';
import { resolveMappedContact } from '../../src/contacts/upsert/resolve-mapped-contact.ts';
import { resolveMappedContacts } from '../../src/contacts/upsert/resolve-mapped-contacts.ts';
import { newOrganization, type NewOrganization } from '../support/organization.ts';

const given: MappedContact[] = [
  { phone: '+4915110000001', external_id: 'a', first_name: 'Ada' },
  { phone: '+4915110000002', external_id: 'b', first_name: 'Bob' },
  { phone: '+4915110000002', external_id: 'a', first_name: 'Between two' },
  { external_id: 'c', email: 'carol@example.org' },
  { email: 'carol@example.org' },
  { email: 'nobody@example.org' },
  {},
  { phone: 'not a number', external_id: 'd' },
  { phone: 'not a number' },
  { phone: '+4915110000003', email: 'no address', first_name: 'Eve' },
  { external_id: 'x'.repeat(300) },
  { phone: '+4915110000001', first_name: 'Ada again' },
  { external_id: 'a', last_name: 'Lovelace' },
];

/** The organization's contacts, and which of them each of `given` is. */
async function resolved(
  options: NewOrganization,
  resolve: (context: Parameters<typeof resolveMappedContacts>[0]) => Promise<(number | null)[]>,
) {
  const { client, id } = await newOrganization(options);
  const ids = await resolve((await backgroundContext(env, id, () => undefined))!);
  const contacts = (await client.get('/contacts?limit=100')).body.contacts as Record<string, any>[];
  const fields = new Map(contacts.map((one) => [one.id, [one.phone, one.external_id, one.email, one.first_name, one.last_name]]));
  const lists = (await client.get('/contacts/lists')).body.lists.map(({ name, contacts_count: count }: any) => [name, count]);
  return { resolved: ids.map((one) => fields.get(one) ?? one), contacts: [...fields.values()].toSorted(), lists };
}

test.each([
  ['on a list', {}, 'CRM'],
  ['on none', {}, null],
  ['at the limit of contacts', { maxContacts: 2 }, null],
] as const)('many together are the contacts that they are one after the other, %s', async (_, plan, list) => {
  const options = { defaultCountry: 'DE', ...plan };
  const together = await resolved(options, (context) => resolveMappedContacts(context, given, list));
  const apart = await resolved(options, async (context) => {
    const ids: (number | null)[] = [];
    for (const one of given) ids.push(await resolveMappedContact(context, one, list));
    return ids;
  });
  expect(together).toEqual(apart);
  expect(together.resolved.filter((one) => one !== null).length).toBeGreaterThan(1);
});
