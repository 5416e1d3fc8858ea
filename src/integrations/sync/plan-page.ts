import type { Contact } from '../../contacts/contacts/contact.ts';
import type { Person, RowFailure, UpsertRow } from '../../contacts/upsert/resolve-existing.ts';
import { foldPeople, type Comparison } from './fold-people.ts';
import { findFirstPhone } from '../../library/phone/phone-numbers.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import { toIncomingChange } from './incoming-change.ts';
import type { Candidate, UnchangedRow } from './candidate.ts';
import type { MappedField } from './mapped-fields.ts';
import type { PersonRows } from './rows-of-person.ts';
import type { SourceRecord } from './source/source.ts';

/** A hash of a record's mapped values. */
export const hashValues = (values: Record<string, string>, fields: MappedField[]): string => {
  const counted = fields.filter(({ field, restOf }) => restOf === undefined || values[field] !== undefined);
  const entries = counted.map(({ field, external }) => [field, external, values[field] ?? '']);
  return sha256Hex(JSON.stringify(entries.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1)))).slice(0, 32);
};

/** The keys of the contacts to load: contacts of links, and contacts with the phone or external id of a record. */
export function lookupKeys(candidates: Candidate[], defaultCountry: string) {
  const phones = candidates.flatMap(({ record }) => phoneOf(record, defaultCountry) ?? []);
  const externalIds = candidates.flatMap(({ record }) => record.values['external_id'] ?? []);
  const ids = candidates.flatMap(({ link }) => link?.contactId ?? []);
  return { phones: [...new Set(phones)], externalIds: [...new Set(externalIds)], ids: [...new Set(ids)] };
}

function phoneOf({ values }: SourceRecord, defaultCountry: string): string | undefined {
  const reading = values['phone'] === undefined ? undefined : findFirstPhone(values['phone'], defaultCountry);
  return reading && 'phone' in reading ? reading.phone : undefined;
}

const ownOf = ({ record, link }: Candidate): Comparison => ({ values: record.values, seen: link?.seen ?? null });

/** The rows of the upsert; `index` is the candidate's. `unchangedRows`: the other rows of the page. */
export function toUpsertRows(
  { candidates, unchangedRows }: { candidates: Candidate[]; unchangedRows: UnchangedRow[] },
  contacts: Contact[],
  { fields, defaultCountry }: { fields: MappedField[]; defaultCountry: string },
): { rows: UpsertRow[]; failures: RowFailure[] } {
  const byId = new Map(contacts.map((contact) => [contact.id, contact]));
  const byPhone = new Map(contacts.map((contact) => [contact.phone, contact]));
  const byExternalId = new Map(contacts.map((contact) => [contact.external_id, contact]));
  const rows: UpsertRow[] = [];
  const failures: RowFailure[] = [];
  const findContacts = ({ record, link }: Candidate): Contact[] => {
    const phone = phoneOf(record, defaultCountry);
    const id = record.values['external_id'];
    return [
      link && byId.get(link.contactId),
      phone === undefined ? undefined : byPhone.get(phone),
      id === undefined ? undefined : byExternalId.get(id),
    ].filter((contact) => contact != null);
  };
  const toReading = (candidate: Candidate, { values, seen }: Comparison) => {
    const contact = findContacts(candidate)[0] ?? null;
    return toIncomingChange({ record: { ...candidate.record, values }, fields, seen, contact, defaultCountry });
  };
  const folded = foldPeople(candidates, unchangedRows, (candidate) => {
    const [contact, ...others] = findContacts(candidate);
    const isClear = contact !== undefined && others.every((other) => other === contact);
    return isClear && !('error' in toReading(candidate, ownOf(candidate))) ? contact.id : null;
  });
  for (const [index, candidate] of candidates.entries()) {
    const contact = findContacts(candidate)[0] ?? null;
    const reading = toReading(candidate, folded.get(candidate) ?? ownOf(candidate));
    if ('error' in reading) failures.push({ index, ...reading.error });
    else if (contact === null && !reading.change.phone && !reading.change.external_id) failures.push({ index, ...noKeyFailure });
    else rows.push({ index, change: reading.change, ...(contact && { contactId: contact.id }) });
  }
  return { rows, failures };
}

const noKeyFailure = { code: 'no_key', detail: 'a contact needs a phone or an external_id to be found again; add one to the record' };

/** A link to write: to an existing contact by its id, to a new one by its phone or external id. */
export interface LinkToWrite {
  key: string;
  contactId: number | null;
  phone: string | null;
  externalId: string | null;
  seenHash: string;
  seen: Record<string, string>;
  several: PersonRows | null;
}

/** The links and counts that follow from the people of an upsert. Of several rows of one person, one is counted as the person. */
export function toPageOutcome(people: Person[], candidates: Candidate[], mapped: MappedField[]) {
  const links: LinkToWrite[] = [];
  const counted = { created: 0, updated: 0, unchanged: 0 };
  for (const { known, values, isChanged, rows } of people) {
    counted[known === null ? 'created' : isChanged ? 'updated' : 'unchanged']++;
    counted.unchanged += rows.reduce((sum, { index }) => sum + candidates[index]!.places.length, -1);
    for (const { index } of rows) {
      const { record, hash, link, several } = candidates[index]!;
      const seen = mapped.map(({ field, direction }) => [field, (direction === 'outbound' ? link?.seen : record.values)?.[field] ?? '']);
      const found = { contactId: known?.id ?? null, phone: values.phone, externalId: values.external_id };
      const seenValues = withoutEmpty(Object.fromEntries(seen) as Record<string, string>);
      links.push({ key: record.key, ...found, seenHash: hash, seen: seenValues, several });
    }
  }
  return { links, ...counted };
}

export const withoutEmpty = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
