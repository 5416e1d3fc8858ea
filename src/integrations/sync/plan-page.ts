import type { Contact } from '../../contacts/contacts/contact.ts';
import type { Person, RowFailure, UpsertRow } from '../../contacts/upsert/resolve-existing.ts';
import { findFirstPhone } from '../../library/phone/phone-numbers.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import { toIncomingChange } from './incoming-change.ts';
import type { MappedField } from './mapped-fields.ts';
import type { SyncProgress, SyncError } from './progress.ts';
import { countMissing, foldRows, isFull, maxRows, withNextRow, type PersonRows } from './rows-of-person.ts';
import type { RecordLocation, SourcePage, SourceRecord } from './source/source.ts';

/** The contact of a record, and the record's last known values. */
export interface Link {
  key: string;
  contactId: number;
  seenHash: string;
  seen: Record<string, string>;
  /** The rows of which `seen` is made, if they are several; null: it is one record. */
  several: PersonRows | null;
  /** The `began` of the reading that last wrote the link. */
  seenIn: number | null;
  /** Epoch ms of the last push; in the future while a push is running. */
  pushedAt: number | null;
  /** Whether the contact is on the list of the records. */
  isListed: boolean;
}

/** A record that is new, has changed, or whose contact is not on the list. Of a person with several rows, the record has the values of all. */
export interface Candidate {
  record: SourceRecord;
  /** Where the record, or each row of it on this page, was read. */
  places: RecordLocation[];
  link: Link | null;
  hash: string;
  several: PersonRows | null;
  /** How many more rows of the person are expected on later pages than before this one. */
  missingRows: number;
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
  const counted = fields.filter(({ field, isRest }) => !isRest || values[field] !== undefined);
  const entries = counted.map(({ field, external }) => [field, external, values[field] ?? '']);
  return sha256Hex(JSON.stringify(entries.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1)))).slice(0, 32);
};

interface PageReading {
  reading: SyncProgress;
  fields: MappedField[];
  hasList: boolean;
  /** Epoch ms: when the page was requested. A record that was pushed since then may be outdated here, so the next sync reads it. */
  askedAt: number;
  defaultCountry: string;
}

/** Separates the records of a page that may change contacts from unchanged ones. Several rows with one key are one person. */
export function classifyRecords(
  { records }: Pick<SourcePage, 'records'>,
  links: Map<string, Link>,
  page: PageReading,
): ClassifiedPage {
  const sorted: ClassifiedPage = { candidates: [], rowsSeen: records.length, unchanged: 0, errors: [], present: [] };
  const found: SourceRecord[] = [];
  for (const record of records) {
    if ('problem' in record) sorted.errors.push({ ...record.place, detail: record.problem.code, message: record.problem.detail });
    else found.push(record);
  }
  for (const rows of groupRows(found)) {
    const link = links.get(rows[0]!.key) ?? null;
    const hasSeveral = rows.length > 1 || (link !== null && link.several !== null);
    if (hasSeveral || ('row' in rows[0]!.place && wasPresent(link, page.reading))) classifyRows(rows, link, page, sorted);
    else classifyRecord(rows[0]!, link, page, sorted);
  }
  return sorted;
}

/** The rows of a sheet by their keys, in the order of the last row of each. A record of books stands alone. */
function groupRows(records: SourceRecord[]): SourceRecord[][] {
  const groups = new Map<string | SourceRecord, SourceRecord[]>();
  for (const record of records) {
    const key = 'row' in record.place ? record.key : record;
    const before = groups.get(key) ?? [];
    groups.delete(key);
    groups.set(key, [...before, record]);
  }
  return [...groups.values()];
}

function classifyRecord(record: SourceRecord, link: Link | null, page: PageReading, sorted: ClassifiedPage): void {
  const hash = hashValues(record.values, page.fields);
  const isLeft = link !== null && link.pushedAt !== null && link.pushedAt >= page.askedAt;
  const isSame = link !== null && link.seenHash === hash && (!page.hasList || link.isListed);
  if (isLeft || isSame) {
    sorted.unchanged++;
    sorted.present.push(link.contactId);
  } else sorted.candidates.push({ record, places: [record.place], link, hash, several: null, missingRows: 0 });
}

/**
 * Folds the rows of a person. The rows before these stand in the link, and so do those that are expected on later pages: by them an earlier
 * row that has changed does not replace the values of a later one. A row like the one before it adds nothing. The link of a person with
 * several rows is written even if nothing has changed, since it counts the rows.
 */
function classifyRows(rows: SourceRecord[], link: Link | null, page: PageReading, sorted: ClassifiedPage): void {
  const { reading, fields } = page;
  const before = rowsBefore(link, reading);
  let person = before;
  const places: RecordLocation[] = [];
  for (const { values, place } of rows) {
    const previous = person.rows[person.read - 1];
    const isAgain = previous !== undefined && hashValues(values, fields) === hashValues(previous, fields);
    const problem = isAgain ? null : findRowProblem(values, person, page);
    if (isAgain) sorted.unchanged++;
    else if (problem) sorted.errors.push({ ...place, ...problem });
    else {
      person = withNextRow(person, values);
      places.push(place);
    }
  }
  if (places.length === 0) {
    if (link) sorted.present.push(link.contactId);
    return;
  }
  const record = { ...rows.at(-1)!, values: foldRows(person.rows) };
  const hash = hashValues(record.values, fields);
  const missingBefore = link?.several && link.seenIn === reading.began ? countMissing(before) : 0;
  const missingRows = countMissing(person) - missingBefore;
  sorted.candidates.push({ record, places, link, hash, several: person.rows.length > 1 ? person : null, missingRows });
}

/** The rows of a person when a page begins. Rows that the reading `recountOf` did not find are forgotten. */
function rowsBefore(link: Link | null, reading: SyncProgress): PersonRows {
  if (link === null) return { rows: [], read: 0 };
  const { several, seen, seenIn } = link;
  if (several === null) return { rows: [seen], read: wasPresent(link, reading) ? 1 : 0 };
  if (seenIn === reading.began) return several;
  return { rows: seenIn === reading.recountOf ? several.rows.slice(0, several.read) : several.rows, read: 0 };
}

/** Why a row cannot be folded with the others of its person; null: it can. */
function findRowProblem(
  values: Record<string, string>,
  person: PersonRows,
  { fields, defaultCountry }: PageReading,
): Pick<SyncError, 'detail' | 'message'> | null {
  if (isFull(person))
    return { detail: 'duplicate', message: `the person has ${maxRows} rows above, or very long ones, and this one is left out; delete some of them` };
  const reading = toIncomingChange({ record: { values, modifiedAt: null }, fields, seen: null, contact: null, defaultCountry });
  return 'error' in reading ? { detail: reading.error.code, message: reading.error.detail } : null;
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
      const values = withoutEmpty(Object.fromEntries(seen) as Record<string, string>);
      links.push({ key: record.key, ...found, seenHash: hash, seen: values, several });
    }
  }
  return { links, ...counted };
}

export const withoutEmpty = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
