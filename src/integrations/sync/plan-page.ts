import type { Contact } from '../../contacts/contacts/contact.ts';
import type { Person, RowFailure, UpsertRow } from '../../contacts/upsert/resolve-existing.ts';
import { findFirstPhone } from '../../library/phone/phone-numbers.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import { toIncomingChange } from './incoming-change.ts';
import type { MappedField } from './mapped-fields.ts';
import type { SyncProgress, SyncError } from './progress.ts';
import type { SourcePage, SourceRecord } from './source/source.ts';

/** Which contact stands for a record, and what the record had last. */
export interface Link {
  key: string;
  contactId: number;
  seenHash: string;
  seen: Record<string, string>;
  /** Names the reading that has written it last. */
  seenIn: number | null;
  /** Epoch ms; in the future while a push is under way. */
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
  /** Contacts that were there although nothing is written of them. */
  present: number[];
}

/** Names what a record has in its fields. */
export const hashValues = (values: Record<string, string>, fields: MappedField[]): string => {
  const entries = fields.map(({ field, external }) => [field, external, values[field] ?? '']);
  return sha256Hex(JSON.stringify(entries.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1)))).slice(0, 32);
};

/**
 * Tells the records of a page that have to be looked at from those that are as they were. Of rows that are one person, the first counts.
 * `askedAt`: when the page was asked for. What was pushed since then may be older here than it is there, so it is left to the next sync.
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

/** What contacts have to be read for: those of links, and those that have the phone or the external id of a record. */
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

/** The rows of the upsert; `index` is that of the candidate. */
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

/** A link to be written: to a contact by its id or, of a new one, by what it can be found by. */
export interface LinkToWrite {
  key: string;
  contactId: number | null;
  phone: string | null;
  externalId: string | null;
  seenHash: string;
  seen: Record<string, string>;
}

/** What the people of a plan mean for links and numbers. Of several records that are one person, the first is counted as it. */
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
