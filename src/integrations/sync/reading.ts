import type { Integration } from '../contract.ts';
import { packIds, unpackIds } from './contact-ids.ts';
import { sourceOf } from './mapped-fields.ts';
import type { Place, RecordPlace } from './source.ts';

export interface Tally {
  rowsSeen: number;
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
}

/** `detail` is a word, `message` its sentence. */
export type SyncError = Partial<RecordPlace> & { detail: string; message: string };

/** How far a sync has come with reading its source. */
export interface Reading {
  source: string;
  /** Epoch ms; also names the reading. */
  began: number;
  /** Epoch ms: only what has changed since is read; null: everything. */
  changedSince: number | null;
  /** Where the next page begins; null: at the beginning. */
  place: Place | null;
  /** All pages are read; what is left is to find out who has gone. */
  isRead: boolean;
  /** Contacts that were there, beside those whose links were written; null: who has gone is not to be known. */
  present: Set<number> | null;
  /** How often it was begun anew because rows were moved while they were read. */
  restarts: number;
  tally: Tally;
  /** The first ones. */
  errors: SyncError[];
}

/** As `integration_sync` keeps it. */
export type Checkpoint =
  | { source: string; began: number; place?: Place | null; is_read?: boolean; present?: string | null; restarts?: number }
  /** Not begun, and to read everything. */
  | { everything: true };

const nothing: Tally = { rowsSeen: 0, created: 0, updated: 0, unchanged: 0, failed: 0 };

/** More than fits beside everything else into a row of the database. */
const longestPresent = 1_500_000;
const mostRestarts = 3;

export const checkpointOf = ({ source, began, place, isRead, present, restarts }: Reading): Checkpoint => {
  const packed = present && packIds(present);
  return { source, began, place, is_read: isRead, present: packed !== null && packed.length > longestPresent ? null : packed, restarts };
};

/** What a sync that has begun goes on with; null: it has not, or what is to be read is another thing by now. */
export function storedReading(
  {
    checkpoint,
    changedSince,
    errors,
    ...tally
  }: { checkpoint: Checkpoint | null; changedSince: number | null; errors: SyncError[] } & Tally,
  source: string,
): Reading | null {
  if (checkpoint === null || 'everything' in checkpoint || checkpoint.source !== source) return null;
  const { began, place = null, is_read: isRead = false, present = null, restarts = 0 } = checkpoint;
  return { source, began, changedSince, place, isRead, present: present === null ? null : unpackIds(present), restarts, tally, errors };
}

/** Clocks differ, and the provider's is the one that says when something was changed. */
const overlapMs = 5 * 60_000;
/** Pages counted by number can miss a record when another is deleted meanwhile, and refused records are to be tried again. */
const everythingAfterMs = 24 * 60 * 60_000;

/** Syncs of an integration that were completed: the last one, and the last one that has read everything. */
export interface Earlier {
  last: { source: string; began: number } | null;
  lastFull: { began: number } | null;
}

/** A reading from the beginning: of everything, or where the provider can tell of what has changed since the last one. */
export function newReading(
  integration: Pick<Integration, 'provider' | 'providerData' | 'connectionParams' | 'fieldMapping'>,
  { last, lastFull }: Earlier,
  { wantsEverything, now }: { wantsEverything: boolean; now: number },
): Reading {
  const source = sourceOf(integration);
  const isIncremental =
    integration.provider === 'books' &&
    !wantsEverything &&
    last?.source === source &&
    lastFull !== null &&
    lastFull.began > now - everythingAfterMs;
  return {
    source,
    began: now,
    changedSince: isIncremental ? last.began - overlapMs : null,
    place: null,
    isRead: false,
    present: integration.provider === 'sheet' ? new Set() : null,
    restarts: 0,
    tally: nothing,
    errors: [],
  };
}

/** The reading begun anew, of everything. */
export function begunAnew(reading: Reading, now: number): Reading {
  const fresh = { ...reading, began: now, changedSince: null, place: null, isRead: false, tally: nothing, errors: [] };
  const restarts = reading.restarts + 1;
  return { ...fresh, restarts, present: reading.present && restarts < mostRestarts ? new Set() : null };
}

/** Whether rows that are moved about are taken as they come, since they are moved too often. Who has gone is then not to be known. */
export const isTolerant = ({ restarts }: Reading): boolean => restarts >= mostRestarts;
