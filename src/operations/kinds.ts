/** The kinds of things that stand still. The order is stored in cursors, so a new kind comes at the end. */
export const stuckKinds = [
  'event',
  'delivery',
  'schedule_fire',
  'cleanup',
  'retrying',
  'run',
  'journey',
  'trigger',
  'campaign',
  'call',
  'document',
  'integration',
  'webhook_endpoint',
] as const;
export type StuckKind = (typeof stuckKinds)[number];

/** Kinds whose rows are in D1. Calls are in the object that has the call slots. */
export type StoredKind = Exclude<StuckKind, 'call'>;

/** A place in one kind, newest first. `at` in epoch ms. */
export interface Place {
  at: number;
  id: number;
}

/** One thing that stands still. Moments in epoch ms. */
export interface StuckRow {
  /** The key of the record within its kind: its id, or what else names it. */
  key: string;
  id: number;
  at: number;
  state: string;
  name: string | null;
  why: string | null;
  tries: number | null;
  next_try_at: number | null;
  workflow_id: number | null;
}

export interface StuckItem extends StuckRow {
  kind: StuckKind;
}

/** The id under which callers name a thing that stands still. */
export const toStuckId = ({ kind, key }: Pick<StuckItem, 'kind' | 'key'>): string => `${kind}:${key}`;

/** What can be tried again: a thing that stands still, or a queue by its name. */
export const retriedKinds = [...stuckKinds, 'queue'] as const;
export type RetriedKind = (typeof retriedKinds)[number];

/** The kind and key of such an id; null: it is none. */
export function parseStuckId(text: string): { kind: RetriedKind; key: string } | null {
  const end = text.indexOf(':');
  const kind = retriedKinds.find((one) => one === text.slice(0, end));
  return end > 0 && kind !== undefined && text.length > end + 1 ? { kind, key: text.slice(end + 1) } : null;
}
