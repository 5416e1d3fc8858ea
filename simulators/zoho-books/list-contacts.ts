import { contactSummary, type StoredContact } from './contact.ts';
import { ZohoError } from './errors.ts';

const known = new Set(
  `organization_id page per_page contact_type filter_by sort_column sort_order search_text email_contains contact_name_contains
  phone_contains last_modified_time`.split(/\s+/),
);
const maxPerPage = 200;

const keys: Record<string, (contact: StoredContact) => string | number> = {
  contact_name: ({ contact_name }) => contact_name.toLowerCase(),
  created_time: ({ created }) => created,
  last_modified_time: ({ modified }) => modified,
};

/** A page of contacts and its place. */
export function listContacts(contacts: Map<string, StoredContact>, query: Record<string, string>): object {
  const unknown = Object.keys(query).find((name) => !known.has(name));
  if (unknown !== undefined) throw ZohoError.invalid(unknown);
  const page = count(query, 'page', 1, Number.MAX_SAFE_INTEGER);
  const perPage = count(query, 'per_page', maxPerPage, maxPerPage);
  const [column, order] = [query['sort_column'] ?? 'contact_name', query['sort_order'] ?? 'A'];
  const key = keys[column];
  if (key === undefined) throw ZohoError.invalid('sort_column');
  if (order !== 'A' && order !== 'D') throw ZohoError.invalid('sort_order');
  const found = [...contacts.values()].filter(filterOf(query));
  const sorted = found.toSorted((one, other) => compare(key(one), key(other)) * (order === 'A' ? 1 : -1));
  const start = (page - 1) * perPage;
  return {
    contacts: sorted.slice(start, start + perPage).map(contactSummary),
    page_context: {
      page,
      per_page: perPage,
      has_more_page: start + perPage < sorted.length,
      report_name: 'Contacts',
      applied_filter: query['filter_by'] ?? 'Status.All',
      sort_column: column,
      sort_order: order,
    },
  };
}

const compare = (one: string | number, other: string | number): number => (one < other ? -1 : one > other ? 1 : 0);

function count(query: Record<string, string>, name: string, standard: number, most: number): number {
  const value = Number(query[name] ?? standard);
  if (!Number.isInteger(value) || value < 1 || value > most) throw ZohoError.invalid(name);
  return value;
}

function filterOf(query: Record<string, string>): (contact: StoredContact) => boolean {
  const filter = query['filter_by'] ?? 'Status.All';
  if (!['Status.All', 'Status.Active', 'Status.Inactive'].includes(filter)) throw ZohoError.invalid('filter_by');
  const since = query['last_modified_time'] === undefined ? -Infinity : timeOf(query['last_modified_time']);
  const text = query['search_text']?.toLowerCase();
  return (contact) =>
    contact.modified >= since &&
    (query['contact_type'] === undefined || contact.contact_type === query['contact_type']) &&
    (filter === 'Status.All' || `Status.${contact.status}`.toLowerCase() === filter.toLowerCase()) &&
    (text === undefined || wordsOf(contact).some((word) => word.toLowerCase().includes(text)));
}

const wordsOf = ({ contact_name, company_name, contact_persons }: StoredContact): string[] => [
  contact_name,
  company_name,
  ...contact_persons.flatMap(({ email, phone, mobile }) => [email, phone, mobile]),
];

function timeOf(text: string): number {
  const time = /[+-]\d{4}$/.test(text) ? Date.parse(text.replace(/(\d\d)$/, ':$1')) : Number.NaN;
  if (Number.isNaN(time)) throw ZohoError.invalid('last_modified_time');
  return time;
}
