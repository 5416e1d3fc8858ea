import type { Context } from '../../../context.ts';
import type { BooksContact } from '../../../providers/apps/books-contact.ts';
import { openBooks } from '../../books/open-books.ts';
import type { Integration } from '../../contract.ts';
import { inboundFields, type MappedField } from '../mapped-fields.ts';
import type { Source, SourceRecord } from './source.ts';

/** The contacts of books; with `changedSince` (epoch ms) only those that were changed later. */
export function booksSource(context: Context, integration: Integration, changedSince: number | null): Source {
  const adapter = openBooks(context, integration);
  const fields = inboundFields(integration);
  return {
    async read(place) {
      const page = place && 'page' in place ? place.page : 1;
      const found = await adapter.listContacts({ page, modifiedSince: changedSince ?? undefined });
      if ('failure' in found) return found;
      return {
        records: found.contacts.map((contact) => toSourceRecord(contact, fields)),
        next: found.hasMore ? { page: page + 1 } : null,
      };
    },
  };
}

const toSourceRecord = ({ id, fields, modifiedAt }: BooksContact, mapped: MappedField[]): SourceRecord => ({
  place: { external_id: id },
  key: id,
  values: mapValues(fields, mapped),
  modifiedAt,
});

/** A books contact's values by mapped contact field. */
const mapValues = (fields: Record<string, string>, mapped: MappedField[]): Record<string, string> =>
  Object.fromEntries(mapped.flatMap(({ field, external }) => (fields[external] ? [[field, fields[external]]] : [])));
