import type { Contact } from '../../contacts/contacts/contact.ts';
import type { Person, RowFailure, UpsertRow } from '../../contacts/upsert/resolve-existing.ts';
import { findFirstPhone } from '../../library/phone/phone-numbers.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import { toIncomingChange } from './incoming-change.ts';
import type { MappedField } from './mapped-fields.ts';
import type { SyncProgress, SyncError } from './progress.ts';
import type { SourcePage, SourceRecord } from './source/source.ts';

/** The contact of a record, and the record's last known values. */
export interface Link {
  key: string;
  contactId: number;
  seenHash: string;
  seen: Record<string, string>;
  /** The `began` of the reading that last wrote the link. */
  seenIn: number | null;
  /** Epoch ms of the last push; in the future while a push is running. */
  pushedAt: number | null;
  /** Whether the contact is on the list of the records. */
  isListed: boolean;
}

/** A record that is new, has changed, or whose contact is not on the list. */
export interface Candidate {
  record: SourceRecord;
  link: Link | null;
  hash: string;
}

export interface ClassifiedPage {
  candidates: Candidate[];
  rowsSeen: number;
  unchanged: number;
  errors: SyncError[];
  /** Contacts of records that are present and need no write. */
  present: number[];
}

/** A hash of a record's mapped values. */
export const hashValues = (values: Record<string, string>, fields: MappedField[]): string => {
  const entries = fields.map(({ field, external }) => [field, external, values[field] ?? '']);
  return sha256Hex(JSON.stringify(entries.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1)))).slice(0, 32);
};

/**
 * Separates the records of a page that may change contacts from unchanged ones. Of several rows with one key, the first counts. `askedAt`:
 * when the page was requested. A record that was pushed since then may be outdated here, so the next sync reads it.
 */
export function classifyRecords(
  { records }: Pick<SourcePage, 'records'>,
  links: Map<string, Link>,
  { reading, fields, hasList, askedAt }: { reading: SyncProgress; fields: MappedField[]; hasList: boolean; askedAt: number },
): ClassifiedPage {
  const sorted: ClassifiedPage = { candidates: [], rowsSeen: records.length, unchanged: 0, errors: [], present: [] };
  const onPage = new Map<string, string>();
  for (const record of records) {
    if ('problem' in record) {
      sorted.errors.push({ ...record.place, detail: record.problem.code, message: record.problem.detail });
      continue;
    }
    const { key, place } = record;
    const link = links.get(key) ?? null;
    const hash = hashValues(record.values, fields);
    const first = onPage.get(key) ?? (wasPresent(link, reading) ? link!.seenHash : undefined);
    onPage.set(key, first ?? hash);
    if (first !== undefined && 'row' in place) {
      if (first === hash) sorted.unchanged++;
      else
        sorted.errors.push({
          ...place,
          detail: 'duplicate',
          message: 'an earlier row is the same person, and that one counts; delete one of them',
        });
      continue;
    }
    const isLeft = link !== null && link.pushedAt !== null && link.pushedAt >= askedAt;
    const isSame = link !== null && link.seenHash === hash && (!hasList || link.isListed);
    if (isLeft || isSame) {
      sorted.unchanged++;
      sorted.present.push(link.contactId);
    } else sorted.candidates.push({ record, link, hash });
  }
  return sorted;
}

const wasPresent = (link: Link | null, { began, present }: SyncProgress): boolean =>
  link !== null && (link.seenIn === began || present?.has(link.contactId) === true);

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

/** The rows of the upsert; `index` is the candidate's. */
export function toUpsertRows(
  candidates: Candidate[],
  contacts: Contact[],
  { fields, defaultCountry }: { fields: MappedField[]; defaultCountry: string },
): { rows: UpsertRow[]; failures: RowFailure[] } {
  const byId = new Map(contacts.map((contact) => [contact.id, contact]));
  const byPhone = new Map(contacts.map((contact) => [contact.phone, contact]));
  const byExternalId = new Map(contacts.map((contact) => [contact.external_id, contact]));
  const rows: UpsertRow[] = [];
  const failures: RowFailure[] = [];
  for (const [index, { record, link }] of candidates.entries()) {
    const phone = phoneOf(record, defaultCountry);
    const id = record.values['external_id'];
    const contact =
      (link && byId.get(link.contactId)) ??
      (phone === undefined ? undefined : byPhone.get(phone)) ??
      (id === undefined ? undefined : byExternalId.get(id)) ??
      null;
    const reading = toIncomingChange({ record, fields, seen: link?.seen ?? null, contact, defaultCountry });
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
}

/** The links and counts that follow from the people of an upsert. Of several records of one person, the first is counted as the person. */
export function toPageOutcome(people: Person[], candidates: Candidate[], mapped: MappedField[]) {
  const links: LinkToWrite[] = [];
  const counted = { created: 0, updated: 0, unchanged: 0 };
  for (const { known, values, isChanged, rows } of people) {
    counted[known === null ? 'created' : isChanged ? 'updated' : 'unchanged']++;
    counted.unchanged += rows.length - 1;
    for (const { index } of rows) {
      const { record, hash, link } = candidates[index]!;
      const seen = mapped.map(({ field, direction }) => [field, (direction === 'outbound' ? link?.seen : record.values)?.[field] ?? '']);
      const found = { contactId: known?.id ?? null, phone: values.phone, externalId: values.external_id };
      links.push({ key: record.key, ...found, seenHash: hash, seen: withoutEmpty(Object.fromEntries(seen) as Record<string, string>) });
    }
  }
  return { links, ...counted };
}

export const withoutEmpty = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
