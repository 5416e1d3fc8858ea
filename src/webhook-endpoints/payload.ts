import { basePath } from '../http/public-url.ts';
import { toTimestamp } from '../library/time/clock.ts';
import { recordPath } from './event-paths.ts';

/** An event as it is stored. */
export interface StoredEvent {
  type: string;
  /** Moments in it are epoch ms under names that end in `_at`. */
  data: Record<string, unknown>;
  /** Epoch ms. */
  created_at: number;
}

/** The body of a webhook. `record_url` is a path when the service does not know its own address (PUBLIC_URL). */
export interface WebhookPayload {
  type: string;
  timestamp: string;
  data: Record<string, unknown> & { record_url: string };
}

/** The payload of an event: the same for every attempt. */
export function toPayload({ type, data, created_at: createdAt }: StoredEvent, publicUrl: string): WebhookPayload {
  const shown = Object.fromEntries(Object.entries(data).map(([name, value]) => [name, showMoment(name, value)]));
  return {
    type,
    timestamp: toTimestamp(createdAt),
    data: { ...shown, record_url: `${publicUrl.replace(/\/$/, '')}${basePath}${recordPath(type, data)}` },
  };
}

const showMoment = (name: string, value: unknown): unknown =>
  name.endsWith('_at') && typeof value === 'number' ? toTimestamp(value) : value;
