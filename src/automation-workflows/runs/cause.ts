import type { Context } from '../../context.ts';
import type { ContactRecord } from '../../contacts/contacts/records.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import { type ScopeRoots, buildScope } from '../../expressions/templates/scope.ts';
import { isRecord } from '../../library/json/json.ts';
import type { RunRow, RunSource } from './store.ts';
import { type Scope, renderText } from '../../expressions/templates/render.ts';
import { resolvePayloads } from '../../database/payload.ts';
import type { EventRow } from './waits/store.ts';

/** The event, delivery or request that starts a run, as templates and conditions see it. */
export interface Origin {
  event: { id: number | null; type: string; data: unknown; created_at: string } | null;
  webhook: DeliveryPayload | null;
  initialContext: Record<string, unknown>;
}

/** The names that templates may use both in triggers and in runs. `now` in epoch ms. */
export function buildCommonRoots(
  { organization }: Context,
  { event, webhook, initialContext }: Origin,
  contact: ContactRecord | null,
  now: number,
): ScopeRoots {
  return {
    contact,
    event,
    data: event?.data ?? webhook?.body ?? initialContext,
    webhook: webhook && { body: webhook.body, raw: webhook.raw, headers: webhook.headers, query: webhook.query },
    organization: {
      id: organization.id,
      name: organization.name,
      timezone: organization.timezone,
      default_country: organization.defaultCountry,
    },
    now: toTimestamp(now),
  };
}

/** An event as it is delivered to runs. `data` is its payload. */
export interface RunEvent {
  id: number;
  type: string;
  contact_id: number | null;
  data: unknown;
  /** Epoch ms. */
  createdAt: number;
}

/** The facts of a run that never change. */
export interface RunOrigin extends Origin {
  id: number;
  workflowId: number;
  workflowName: string;
  workflowVersion: number;
  contactId: number | null;
  entryKey: string | null;
  depth: number;
  isTest: boolean;
  createdAt: number;
}

/** The stored content of a webhook delivery: the parsed body, the headers and query that may be shown, and the mapping's variables. */
export interface DeliveryPayload {
  body: unknown;
  raw: string | null;
  headers: Record<string, string>;
  /** A name that occurs several times has a list. */
  query: Record<string, string | string[]>;
  variables: Record<string, unknown>;
  /** Which element of the request this is, from 1, and of how many; absent: the request is not split. 0 of 0: it has none, and starts nothing. */
  element?: { number: number; of: number };
  /** What of the request could not be read, in a sentence without its content. */
  unread?: string;
}

/** The top-level variables that a delivery adds to a run's context. */
export const toDeliveryVariables = (payload: DeliveryPayload): Record<string, unknown> => ({
  ...(isRecord(payload.body) ? payload.body : {}),
  ...payload.variables,
});

/** The context that a run started with. `own` is the run's own context, `payload` that of its event or delivery. */
export function initialContextOf(row: Pick<RunRow, 'source'>, own: unknown, payload: unknown): Record<string, unknown> {
  if (row.source === 'run') return (own ?? {}) as Record<string, unknown>;
  // A payload that is truncated or missing is replaced by a note.
  if (row.source === 'delivery' && isRecord(payload))
    return 'body' in payload ? toDeliveryVariables(payload as unknown as DeliveryPayload) : payload;
  return (payload ?? {}) as Record<string, unknown>;
}

/** An occurrence that may start runs. */
export interface RunCause extends Origin {
  /** Identifies the occurrence. With the trigger's id it is a run's dedup key. */
  key: string;
  contact: ContactRecord | null;
  source: RunSource;
  sourceId: number | null;
  depth: number;
}

/** The cause of a run that brings its own context: a request, or a moment of a schedule. */
export const causeWithContext = (key: string, contact: ContactRecord | null, initialContext: Record<string, unknown>): RunCause => ({
  key,
  contact,
  event: null,
  webhook: null,
  source: 'run',
  sourceId: null,
  initialContext,
  depth: 0,
});

/** The scope for filters and entry keys of triggers: the names that a run has, as far as they exist before the run. */
export const buildCauseScope = (context: Context, cause: Origin & { contact: ContactRecord | null }, now: number): Scope =>
  buildScope(buildCommonRoots(context, cause, cause.contact, now), cause.initialContext);

/** An event as the scope of rules and filters needs it. */
export const toEventCause = (
  event: RunEvent,
  contact: ContactRecord | null,
): Pick<RunCause, 'event' | 'webhook' | 'initialContext' | 'contact'> => ({
  contact,
  event: { id: event.id, type: event.type, data: event.data, created_at: toTimestamp(event.createdAt) },
  webhook: null,
  initialContext: event.data as Record<string, unknown>,
});

/** The entry key of a run: the rendered template of the trigger or workflow, else the contact's id, else the event's id. Throws EvaluationError. */
export function renderEntryKey(
  template: string | null | undefined,
  scope: Scope,
  contactId: number | null,
  eventId: number | null,
): string | null {
  if (template) return renderText(template, scope).trim() || null;
  if (contactId !== null) return String(contactId);
  return eventId === null ? null : String(eventId);
}

/** Events with their payloads, which may be in R2. Throws PayloadGoneError when one is missing. */
export async function loadRunEvents(context: Context, rows: EventRow[]): Promise<RunEvent[]> {
  const payloads = await resolvePayloads(
    context.bindings.FILES,
    rows.map((row) => row.data),
  );
  return rows.map((row, index) => ({
    id: row.id,
    type: row.event_type,
    contact_id: row.contact_id,
    data: payloads[index],
    createdAt: row.created_at,
  }));
}
