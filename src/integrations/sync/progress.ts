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

/** `detail` is a word, `message` its sentence. */
export type SyncError = Partial<RecordLocation> & { detail: string; message: string };

/** How far a sync has come with reading its source. */
export interface SyncProgress {
  source: string;
  /** Epoch ms; also names the reading. */
  began: number;
  /** Epoch ms: only what has changed since is read; null: everything. */
  changedSince: number | null;
  /** Where the next page begins; null: at the beginning. */
  place: SourcePosition | null;
  /** All pages are read; what is left is to find out who has gone. */
  isRead: boolean;
  /** Contacts that were there, beside those whose links were written; null: who has gone is not to be known. */
  present: Set<number> | null;
  /** How often it was begun anew because rows were moved while they were read. */
  restarts: number;
  tally: SyncCounts;
  /** The first ones. */
  errors: SyncError[];
}

/** As `integration_sync` keeps it. */
export type Checkpoint =
  | { source: string; began: number; place?: SourcePosition | null; is_read?: boolean; present?: string | null; restarts?: number }
  /** Not begun, and to read everything. */
  | { everything: true };

const zeroCounts: SyncCounts = { rowsSeen: 0, created: 0, updated: 0, unchanged: 0, failed: 0 };

/** More than fits beside everything else into a row of the database. */
const maxPresentLength = 1_500_000;
const maxRestarts = 3;

export const toCheckpoint = ({ source, began, place, isRead, present, restarts }: SyncProgress): Checkpoint => {
  const packed = present && packIds(present);
  return { source, began, place, is_read: isRead, present: packed !== null && packed.length > maxPresentLength ? null : packed, restarts };
};

/** What a sync that has begun goes on with; null: it has not, or what is to be read is another thing by now. */
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
  const { began, place = null, is_read: isRead = false, present = null, restarts = 0 } = checkpoint;
  return { source, began, changedSince, place, isRead, present: present === null ? null : unpackIds(present), restarts, tally, errors };
}

/** Clocks differ, and the provider's is the one that says when something was changed. */
const overlapMs = 5 * 60_000;
/** Pages counted by number can miss a record when another is deleted meanwhile, and refused records are to be tried again. */
const fullSyncIntervalMs = 24 * 60 * 60_000;

/** Syncs of an integration that were completed: the last one, and the last one that has read everything. */
export interface PreviousSyncs {
  last: { source: string; began: number } | null;
  lastFull: { began: number } | null;
}

/** A reading from the beginning: of everything, or where the provider can tell of what has changed since the last one. */
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
    tally: zeroCounts,
    errors: [],
  };
}

/** The reading begun anew, of everything. */
export function restartProgress(reading: SyncProgress, now: number): SyncProgress {
  const fresh = { ...reading, began: now, changedSince: null, place: null, isRead: false, tally: zeroCounts, errors: [] };
  const restarts = reading.restarts + 1;
  return { ...fresh, restarts, present: reading.present && restarts < maxRestarts ? new Set() : null };
}

/** Whether rows that are moved about are taken as they come, since they are moved too often. Who has gone is then not to be known. */
export const toleratesMovedRows = ({ restarts }: SyncProgress): boolean => restarts >= maxRestarts;
