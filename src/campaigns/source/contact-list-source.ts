import type { Context } from '../../context.ts';
import type { ContactRecord } from '../../contacts/contacts/records.ts';
import { readListMembers } from '../../contacts/contacts/list-contacts.ts';
import { toOnePersonSpelling } from '../../library/phone/one-person.ts';
import { UnreadableFileError } from '../../library/text/unreadable-file.ts';
import { toSnakeCaseKey } from '../../contacts/import/header-key.ts';
import { type SeenPhones, claimPhone } from './seen-phones.ts';
import type { CampaignSource, CampaignSourceRow } from './campaign-source.ts';

const pageSize = 500;

/** The members of a contact list, in the order of their ids. */
export function openContactListSource(context: Context, listId: number): CampaignSource {
  return {
    columns: null,
    async *batches(seen, after) {
      let { row_number: rowNumber, contact_id: contactId } = after ?? { row_number: 0, contact_id: 0 };
      for (;;) {
        const members = await readListMembers(context, listId, contactId ?? 0, pageSize);
        if (!members) throw new UnreadableFileError('The contact list was deleted; create a campaign with another one');
        // A page may be short because contacts are being deleted: only an empty page is the last.
        if (members.length === 0) return;
        yield members.map((member) => toMemberRow(member, (rowNumber += 1), seen));
        contactId = members.at(-1)!.id;
      }
    },
    close: async () => {},
  };
}

function toMemberRow(contact: ContactRecord, row_number: number, seen: SeenPhones): CampaignSourceRow {
  const row = { row_number, phone: contact.phone ?? '', contact_id: contact.id, variables: toContactVariables(contact) };
  return contact.phone
    ? { ...row, ...claimPhone(seen, toOnePersonSpelling(contact.phone), row_number) }
    : { ...row, state: 'failed', reason: 'no_phone: the contact has no phone number' };
}

const standardFields = ['first_name', 'last_name', 'email', 'company', 'title', 'external_id'] as const;

/** A contact's fields as the variables of a call: the standard fields, empty without a value, and the custom fields by the names that templates write. */
export function toContactVariables(
  contact: Pick<ContactRecord, (typeof standardFields)[number] | 'custom_fields'>,
): Record<string, unknown> {
  const variables: Record<string, unknown> = Object.fromEntries(standardFields.map((field) => [field, contact[field] ?? '']));
  for (const [key, value] of Object.entries(contact.custom_fields)) {
    const name = toSnakeCaseKey(key) || key;
    if (!Object.hasOwn(variables, name)) variables[name] = value;
  }
  return variables;
}
