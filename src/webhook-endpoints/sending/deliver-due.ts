import pMap from 'p-map';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/client.ts';
import { findAnyEndpoint, type EndpointRow } from '../endpoints/store.ts';
import { openSigningSecrets } from '../signing-secrets.ts';
import { nextHealth, type AttemptEnd, type EndpointHealth } from './endpoint-health.ts';
import { sendMessage, type SentMessage } from './send-message.ts';
import * as store from './store.ts';

/** Subjects whose messages are sent at the same time. */
const concurrency = 8;
const pageSize = 64;
const deletedPerPage = 500;
const dayMs = 86_400_000;

/** The results of attempts that could not be written yet. They are in memory only: without them, the messages are sent again. */
export interface Unrecorded {
  sent: SentMessage[];
}

/**
 * Sends the messages of an endpoint that are due, until none is left or `isOver`, and deletes those that have been kept for long enough.
 * Messages of one subject are sent in order: a message that fails holds the later ones of its subject, and no others. Answers when there is
 * work next, epoch ms; null: there is none. A message is sent again when its result could not be written.
 */
export async function deliverDue(
  context: Context,
  endpointId: number,
  unrecorded: Unrecorded,
  isOver: () => boolean,
): Promise<number | null> {
  const { database, organization, settings, clock } = context;
  let endpoint = await findAnyEndpoint(database, organization.id, endpointId);
  if (unrecorded.sent.length > 0 && endpoint) endpoint = await record(context, endpoint, unrecorded, []);
  unrecorded.sent = [];
  if (!endpoint) return null;
  if (endpoint.status === 'deleted') return removeEndpoint(context, endpointId, isOver);
  while (!isOver() && mayBeSent(endpoint, clock())) {
    const due = await store.findDueMessages(database, organization.id, endpointId, { now: clock(), limit: pageSize });
    if (due.length === 0) break;
    const held = await sendPage(context, endpoint, due, unrecorded, isOver);
    endpoint = await record(context, endpoint, unrecorded, held);
    if (!endpoint) return null;
  }
  const retentionMs = settings.WEBHOOK_DELIVERY_DAYS * dayMs;
  await removeExpired(context, endpointId, clock() - retentionMs, isOver);
  return store.scheduleWake(database, organization.id, endpointId, retentionMs);
}

const mayBeSent = ({ status, hold_until: holdUntil }: EndpointRow, now: number): boolean =>
  status === 'active' && (holdUntil === null || holdUntil <= now);

/** Sends a page of messages, subjects side by side. Adds the results to `unrecorded`, and answers the messages that wait for an earlier one. */
async function sendPage(
  context: Context,
  endpoint: EndpointRow,
  due: store.DueMessage[],
  unrecorded: Unrecorded,
  isOver: () => boolean,
): Promise<number[]> {
  const secrets = await openSigningSecrets(context.settings, endpoint, context.clock());
  const held: number[] = [];
  let asksForPause = false;
  const bySubject = [...Map.groupBy(due, ({ subject }) => subject).values()];
  await pMap(
    bySubject,
    async (messages) => {
      const inOrder = messages.toSorted((one, other) => one.sequence - other.sequence);
      // The message that has just ended; undefined: it failed. The one before a message is not in the page when it waits itself.
      let ended: number | null | undefined = null;
      for (const message of inOrder) {
        if (message.previous !== ended) held.push(message.sequence);
        else {
          if (asksForPause || isOver()) return;
          const sent = await sendMessage(context, endpoint, message, secrets);
          unrecorded.sent.push(sent);
          asksForPause ||= sent.end.retryAfterMs !== null || sent.end.status === 410;
          ended = sent.outcome.status === 'pending' ? undefined : message.sequence;
        }
      }
    },
    { concurrency },
  );
  return held;
}

/** Writes the results of attempts in one transaction, and answers the endpoint as it is then; null: it is gone. */
async function record(
  { database, organization, clock }: Context,
  endpoint: EndpointRow,
  unrecorded: Unrecorded,
  held: number[],
): Promise<EndpointRow | null> {
  const now = clock();
  const { id } = endpoint;
  const health = nextHealth(
    { ...endpoint, disabled_reason: null },
    unrecorded.sent.map(({ end }): AttemptEnd => end),
    now,
  );
  const outcomes = unrecorded.sent.map(({ outcome }) => outcome);
  const statements = [
    ...(outcomes.length > 0 ? store.recordOutcomes(database, organization.id, id, outcomes, now) : []),
    ...(held.length > 0 ? [store.holdBehindEarlier(database, organization.id, id, held)] : []),
    ...(isChanged(endpoint, health) ? [store.recordHealth(database, endpoint, health, now)] : []),
  ];
  if (statements.length > 0) await database.batch(statements, 'idempotent');
  unrecorded.sent = [];
  return findAnyEndpoint(database, organization.id, id);
}

const isChanged = (endpoint: EndpointRow, health: EndpointHealth): boolean =>
  health.disabled_reason !== null ||
  health.failing_since !== endpoint.failing_since ||
  health.last_failure_at !== endpoint.last_failure_at ||
  health.hold_until !== endpoint.hold_until;

async function removeExpired(
  { database, organization, clock }: Context,
  endpointId: number,
  before: number,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) if (!(await removePage(database, organization.id, endpointId, before, clock()))) return;
}

/** Deletes the messages of a deleted endpoint, then its row. */
async function removeEndpoint(
  { database, organization, clock }: Context,
  endpointId: number,
  isOver: () => boolean,
): Promise<number | null> {
  while (!isOver()) {
    if (await removePage(database, organization.id, endpointId, Number.MAX_SAFE_INTEGER, clock())) continue;
    await store.deleteEndpointRow(database, organization.id, endpointId);
    return null;
  }
  return clock();
}

const removePage = (database: Database, organizationId: number, endpointId: number, before: number, now: number): Promise<boolean> =>
  store.deleteMessages(database, organizationId, endpointId, { before, limit: deletedPerPage, now });
