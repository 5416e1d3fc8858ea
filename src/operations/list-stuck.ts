import { withCallSlots, type CallStandstill } from '../calls/rpc.ts';
import type { Context } from '../context.ts';
import { decodePlace, encodePlace, type StuckPlace } from './cursor.ts';
import type { Place, StuckItem, StuckKind, StuckRow } from './kinds.ts';
import { selectStuckRows, storedKinds } from './stores/stuck-store.ts';

/** How many calls that stand still the call slots answer. */
const maxStalledCalls = 500;

export interface StuckPage {
  items: StuckItem[];
  nextCursor: string | null;
  /** Null: they did not answer. */
  calls: CallStandstill | null;
}

/**
 * A page of what stands still in the organization, about newest first: in the order of each kind, the newest of all kinds next. Of each kind, at most one
 * row more than the page has is read. Throws 422 for a foreign cursor.
 */
export async function listStuck(
  context: Context,
  { limit, cursor, kind }: { limit: number; cursor?: string | undefined; kind?: StuckKind | undefined },
): Promise<StuckPage> {
  const { database, organization } = context;
  const place = decodePlace(cursor);
  const kinds = storedKinds.filter((one) => kind === undefined || one === kind);
  const [found, calls] = await Promise.all([
    kinds.length === 0
      ? []
      : database.batch(kinds.map((one) => selectStuckRows(database, organization.id, one, { behind: place[one], limit: limit + 1 }))),
    readStandstill(context),
  ]);
  const queues = new Map<StuckKind, StuckRow[]>(kinds.map((one, index) => [one, found[index]!]));
  if (calls && (kind === undefined || kind === 'call')) queues.set('call', toCallRows(calls, place.call).slice(0, limit + 1));
  const { items, hasMore } = mergeQueues(queues, limit);
  return { items, nextCursor: hasMore ? encodePlace(placeBehind(place, items)) : null, calls };
}

/** A failure of the slots hides nothing else. */
function readStandstill({ bindings, organization, log }: Context): Promise<CallStandstill | null> {
  return withCallSlots(bindings, organization.id, (slots) => slots.getStandstill(maxStalledCalls)).catch((error: unknown) => {
    log.error('the call slots did not say what stands still', error);
    return null;
  });
}

/** Newest first, behind a place. */
function toCallRows({ stalled }: CallStandstill, behind: Place | undefined): StuckRow[] {
  return stalled
    .toSorted((one, other) => other.seq - one.seq)
    .filter(({ seq }) => behind === undefined || seq < behind.id)
    .map((call) => ({
      key: call.key,
      id: call.seq,
      at: call.since,
      state: 'silent',
      name: call.runId === null ? null : `run ${call.runId}`,
      why: call.why,
      tries: null,
      next_try_at: call.nextCheckAt,
      workflow_id: null,
    }));
}

/** Takes the newest of the heads of the queues, until the page is full: of each kind a beginning is taken, so that the next page misses nothing. */
function mergeQueues(queues: Map<StuckKind, StuckRow[]>, limit: number): { items: StuckItem[]; hasMore: boolean } {
  const items: StuckItem[] = [];
  const taken = new Map<StuckKind, number>();
  for (;;) {
    let newest: { kind: StuckKind; row: StuckRow } | null = null;
    for (const [kind, rows] of queues) {
      const row = rows[taken.get(kind) ?? 0];
      if (row && (newest === null || row.at > newest.row.at)) newest = { kind, row };
    }
    if (newest === null) return { items, hasMore: false };
    if (items.length === limit) return { items, hasMore: true };
    items.push({ kind: newest.kind, ...newest.row });
    taken.set(newest.kind, (taken.get(newest.kind) ?? 0) + 1);
  }
}

function placeBehind(place: StuckPlace, items: StuckItem[]): StuckPlace {
  const next = { ...place };
  for (const { kind, at, id } of items) next[kind] = { at, id };
  return next;
}
