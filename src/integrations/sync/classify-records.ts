import { toIncomingChange } from './incoming-change.ts';
import type { MappedField } from './mapped-fields.ts';
import type { Candidate, Link, UnchangedRow } from './candidate.ts';
import { hashValues } from './plan-page.ts';
import type { SyncError, SyncProgress } from './progress.ts';
import { countMissing, foldRows, isFull, maxRows, withNextRow, type PersonRows } from './rows-of-person.ts';
import type { RecordLocation, SourcePage, SourceRecord } from './source/source.ts';

export interface ClassifiedPage {
  candidates: Candidate[];
  rowsSeen: number;
  unchanged: number;
  errors: SyncError[];
  unchangedRows: UnchangedRow[];
  /** Contacts of records that are present and need no write. */
  present: number[];
}

interface PageReading {
  reading: SyncProgress;
  fields: MappedField[];
  hasList: boolean;
  /** Epoch ms: when the page was requested. A record that was pushed since then may be outdated here, so the next sync reads it. */
  askedAt: number;
  defaultCountry: string;
}

/** Separates the records of a page that may change contacts from unchanged ones. Several rows with one key are one person. */
export function classifyRecords({ records }: Pick<SourcePage, 'records'>, links: Map<string, Link>, page: PageReading): ClassifiedPage {
  const sorted: ClassifiedPage = { candidates: [], rowsSeen: records.length, unchanged: 0, errors: [], unchangedRows: [], present: [] };
  const found: SourceRecord[] = [];
  for (const record of records) {
    if ('problem' in record) sorted.errors.push({ ...record.place, detail: record.problem.code, message: record.problem.detail });
    else found.push(record);
  }
  // The rows of a sheet by their keys. A record of books stands alone.
  const people = Map.groupBy(found, (record) => ('row' in record.place ? record.key : record));
  for (const rows of people.values()) {
    const link = links.get(rows[0]!.key) ?? null;
    const hasSeveral = rows.length > 1 || (link !== null && link.several !== null);
    if (hasSeveral || ('row' in rows[0]!.place && wasPresent(link, page.reading))) classifyRows(rows, link, page, sorted);
    else classifyRecord(rows[0]!, link, page, sorted);
  }
  return sorted;
}

function classifyRecord(record: SourceRecord, link: Link | null, page: PageReading, sorted: ClassifiedPage): void {
  const hash = hashValues(record.values, page.fields);
  const isLeft = link !== null && link.pushedAt !== null && link.pushedAt >= page.askedAt;
  const isSame = link !== null && link.seenHash === hash && (!page.hasList || link.isListed);
  if (isSame && link.isWrittenByOther && 'row' in record.place) {
    sorted.errors.push({ ...record.place, ...changedAbove });
    sorted.present.push(link.contactId);
  } else if (isLeft || isSame) {
    sorted.unchanged++;
    sorted.present.push(link.contactId);
    addUnchanged(record, link, sorted);
  } else sorted.candidates.push({ record, places: [record.place], link, hash, several: null, missingRows: 0 });
}

/** Rows of one contact under different keys are folded within a page. */
const changedAbove = {
  detail: 'same_person',
  message:
    'the row is of the same person as one far above under another id or number, which has changed, and whose values stand now; give both rows one id, or join them',
};

function addUnchanged({ place, key, values }: SourceRecord, { contactId }: Link, sorted: ClassifiedPage): void {
  if ('row' in place) sorted.unchangedRows.push({ row: place.row, key, contactId, values });
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
    if (link) {
      sorted.present.push(link.contactId);
      addUnchanged({ ...rows.at(-1)!, values: foldRows(person.rows) }, link, sorted);
    }
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
    return {
      detail: 'duplicate',
      message: `the person has ${maxRows} rows above, or very long ones, and this one is left out; delete some of them`,
    };
  const reading = toIncomingChange({ record: { values, modifiedAt: null }, fields, seen: null, contact: null, defaultCountry });
  return 'error' in reading ? { detail: reading.error.code, message: reading.error.detail } : null;
}

const wasPresent = (link: Link | null, { began, present }: SyncProgress): boolean =>
  link !== null && (link.seenIn === began || present?.has(link.contactId) === true);
