import type { Integration } from '../contract.ts';
import { packIds, unpackIds } from './pack-ids.ts';
import { sourceFingerprint } from './mapped-fields.ts';
import type { SourcePosition, RecordLocation } from './source/source.ts';

export interface SyncCounts {
  rowsSeen: number;
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
}

/** `detail` is a code, `message` a sentence. */
export type SyncError = Partial<RecordLocation> & { detail: string; message: string };

/** The progress of a sync in reading its source. */
export interface SyncProgress {
  source: string;
  /** Epoch ms; also identifies the reading. */
  began: number;
  /** Epoch ms: only later changes are read; null: all records. */
  changedSince: number | null;
  /** The position of the next page; null: the first page. */
  place: SourcePosition | null;
  /** All pages are read; the records that are gone remain to be found. */
  isRead: boolean;
  /** Contacts that were present without a written link; null: records that are gone are not looked for. */
  present: Set<number> | null;
  /** How often the reading was restarted because rows were moved meanwhile. */
  restarts: number;
  /** How many rows of people with several rows are expected and not yet found. */
  missingRows: number;
  /** The `began` of the complete reading that missed such rows, which this one no longer expects; null: none did. */
  recountOf: number | null;
  tally: SyncCounts;
  /** The first errors. */
  errors: SyncError[];
}

/** The stored form, in `integration_sync`. */
export type Checkpoint =
  | {
      source: string;
      began: number;
      place?: SourcePosition | null;
      is_read?: boolean;
      present?: string | null;
      restarts?: number;
      missing_rows?: number;
      recount_of?: number | null;
    }
  /** Not begun yet, and to read all records. */
  | { everything: true };

const zeroCounts: SyncCounts = { rowsSeen: 0, created: 0, updated: 0, unchanged: 0, failed: 0 };

/** The maximum length that fits into a database row. */
const maxPresentLength = 1_500_000;
const maxRestarts = 3;

export const toCheckpoint = ({ source, began, place, isRead, present, restarts, missingRows, recountOf }: SyncProgress): Checkpoint => {
  const packed = present && packIds(present);
  return {
    source,
    began,
    place,
    is_read: isRead,
    present: packed !== null && packed.length > maxPresentLength ? null : packed,
    restarts,
    missing_rows: missingRows,
    recount_of: recountOf,
  };
};

/** The progress of a sync that has begun; null: it has not begun, or the source or mapping has changed since. */
export function progressFromCheckpoint(
  {
    checkpoint,
    changedSince,
    errors,
    ...tally
  }: { checkpoint: Checkpoint | null; changedSince: number | null; errors: SyncError[] } & SyncCounts,
  source: string,
): SyncProgress | null {
  if (checkpoint === null || 'everything' in checkpoint || checkpoint.source !== source) return null;
  const { began, place = null, is_read: isRead = false, present: packed = null, restarts = 0 } = checkpoint;
  const { missing_rows: missingRows = 0, recount_of: recountOf = null } = checkpoint;
  const present = packed === null ? null : unpackIds(packed);
  return { source, began, changedSince, place, isRead, present, restarts, missingRows, recountOf, tally, errors };
}

/** The clocks of this service and of the provider may differ. */
const overlapMs = 5 * 60_000;
/** Numbered pages can miss a record when another is deleted meanwhile, and refused records should be tried again. */
const fullSyncIntervalMs = 24 * 60 * 60_000;

/** The last completed sync of an integration, and the last one that read all records. */
export interface PreviousSyncs {
  last: { source: string; began: number } | null;
  lastFull: { began: number } | null;
}

/** A new reading: of all records, or only of later changes where the provider can list those. */
export function newProgress(
  integration: Pick<Integration, 'provider' | 'providerData' | 'connectionParams' | 'fieldMapping'>,
  { last, lastFull }: PreviousSyncs,
  { wantsEverything, now }: { wantsEverything: boolean; now: number },
): SyncProgress {
  const source = sourceFingerprint(integration);
  const isIncremental =
    integration.provider === 'books' &&
    !wantsEverything &&
    last?.source === source &&
    lastFull !== null &&
    lastFull.began > now - fullSyncIntervalMs;
  return {
    source,
    began: now,
    changedSince: isIncremental ? last.began - overlapMs : null,
    place: null,
    isRead: false,
    present: integration.provider === 'sheet' ? new Set() : null,
    restarts: 0,
    missingRows: 0,
    recountOf: null,
    tally: zeroCounts,
    errors: [],
  };
}

/** The reading restarted, of all records. */
export function restartProgress(reading: SyncProgress, now: number): SyncProgress {
  const fresh = { ...reading, began: now, changedSince: null, place: null, isRead: false, missingRows: 0, tally: zeroCounts, errors: [] };
  const restarts = reading.restarts + 1;
  return { ...fresh, restarts, present: reading.present && restarts < maxRestarts ? new Set() : null };
}

/** Whether a complete reading missed rows of people who have others: their values still hold until the rows are read again without them. */
export const mustRecount = ({ isRead, missingRows, recountOf, present }: SyncProgress): boolean =>
  isRead && missingRows > 0 && recountOf === null && present !== null;

/** The reading begun again, which does not expect the rows that it missed. */
export const recountProgress = (reading: SyncProgress, now: number): SyncProgress => ({
  ...reading,
  began: Math.max(now, reading.began + 1),
  recountOf: reading.began,
  place: null,
  isRead: false,
  present: new Set(),
  missingRows: 0,
  tally: zeroCounts,
  errors: [],
});

/** Whether moved rows are accepted, because the reading was restarted too often. Records that are gone are then not looked for. */
export const toleratesMovedRows = ({ restarts }: SyncProgress): boolean => restarts >= maxRestarts;
