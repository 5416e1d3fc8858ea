import type { PersonRows } from './rows-of-person.ts';
import type { RecordLocation, SourceRecord } from './source/source.ts';

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
  /** Whether this reading has written a record with another key of the contact, on an earlier page. */
  isWrittenByOther: boolean;
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

/** A row of a sheet that is as it was when its link was written. */
export interface UnchangedRow {
  row: number;
  key: string;
  contactId: number;
  values: Record<string, string>;
}
