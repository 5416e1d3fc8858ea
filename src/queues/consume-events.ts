import { LRUCache } from 'lru-cache';
import { lazily } from '../library/lazily.ts';
import type { Context } from '../context.ts';
import { backgroundContext } from '../accounts/organizations/background-context.ts';
import { handleEvents } from '../automation-workflows/triggers/events/handle-events.ts';
import { handleDeliveries } from '../automation-workflows/triggers/webhooks/handle-deliveries.ts';
import { WorkTurn } from '../library/limits/work-turn.ts';
import { yieldToEventLoop } from '../library/limits/yield-to-event-loop.ts';
import type { Logger } from '../library/platform/log.ts';
import { recordFailureReason } from '../outbox/failed-messages.ts';
import { EventsMessage } from '../outbox/messages.ts';
import { isLastAttempt, retryDelaySeconds } from './retry-delays.ts';

/** How many messages of one organization are handled together. */
const pageSize = { events: 10, 'events-bulk': 25 };
/** How long one organization's part of a batch of `events-bulk` may take before the rest goes to the end of the queue. */
const groupBudgetMs = 500;

/**
 * An organization whose messages did not fit into a page uses only `events-bulk` for `apartMs`, so that its next messages are not handled before
 * its earlier ones; after many messages at once, or costly ones, for `longApartMs`. `apartUntil` has the end of that time by organization id,
 * as far as this isolate knows.
 */
const apartMs = 2_000;
const longApartMs = 10_000;
const minLongApartMessages = 25;
const apartUntil = lazily(() => new LRUCache<number, number>({ max: 10_000 }));

interface ParsedMessage {
  message: Message;
  body: EventsMessage;
}

interface EventsBatch {
  queue: 'events' | 'events-bulk';
  bindings: Env;
  log: Logger;
  defer: Context['defer'];
}

/**
 * Handles the events and deliveries of one organization together, with a few D1 calls for all of them. Organizations are handled side by
 * side. The messages beyond a page, or beyond a turn of evaluating conditions and schemas, go to the queue `events-bulk`, so that no
 * organization waits for the many or the costly events of another.
 */
export async function consumeEvents(batch: MessageBatch, bindings: Env, log: Logger, defer: Context['defer']): Promise<void> {
  const queue = batch.queue.startsWith('events-bulk') ? 'events-bulk' : 'events';
  const readable = batch.messages.flatMap((message) => {
    const parsed = EventsMessage.safeParse(message.body);
    if (parsed.success) return { message, body: parsed.data };
    log.error('unreadable message dropped; the minute tick sends its record again', parsed.error, { body: message.body });
    message.ack();
    return [];
  });
  const groups = Map.groupBy(readable, ({ body }) => `${body.organization_id}:${body.kind}`);
  await Promise.all([...groups.values()].map((group) => consumeGroup(group, { queue, bindings, log, defer })));
}

async function consumeGroup(group: ParsedMessage[], batch: EventsBatch): Promise<void> {
  const { organization_id } = group[0]!.body;
  const startedAt = Date.now();
  const isApart = batch.queue === 'events' && (apartUntil().get(organization_id) ?? 0) > startedAt;
  let waiting = isApart ? await moveToBulk(group, batch) : group;
  let size = pageSize[batch.queue];
  while (waiting.length > 0) {
    const page = waiting.slice(0, size);
    const left = await handlePage(page, batch);
    waiting = [...left, ...waiting.slice(page.length)];
    if (waiting.length === 0) return;
    // Costly events are read in small pages, since most of a large page would be read in vain.
    if (left.length > 0) size = pageSize.events;
    const isMuch = left.length > 0 || group.length >= minLongApartMessages;
    apartUntil().set(organization_id, Date.now() + (isMuch ? longApartMs : apartMs));
    const mustGiveWay = batch.queue === 'events' || Date.now() - startedAt > groupBudgetMs;
    if (mustGiveWay) waiting = await moveToBulk(waiting, batch);
    await yieldToEventLoop();
  }
}

/** Settles the messages, except those that it returns: its turn ended before they were handled. */
async function handlePage(page: ParsedMessage[], batch: EventsBatch): Promise<ParsedMessage[]> {
  const left = await handleTogether(page, batch);
  if (left) return left;
  // Together they failed; one by one the sound ones get through.
  for (const one of page) {
    const isSettled = page.length > 1 && (await handleTogether([one], batch));
    if (!isSettled) one.message.retry({ delaySeconds: retryDelaySeconds(one.message.attempts) });
  }
  return [];
}

/**
 * Handles messages of one organization and kind, and acknowledges them. Returns the messages that the turn had no time for, never the first
 * message. Null when the handling failed and no message is settled.
 */
async function handleTogether(group: ParsedMessage[], { bindings, log, defer }: EventsBatch): Promise<ParsedMessage[] | null> {
  const { organization_id, kind } = group[0]!.body;
  const ids = group.map(({ body }) => body.id);
  // The last try handles a message alone, so that each message fails with its own reason.
  const isLast = group.length === 1 && isLastAttempt(group[0]!.message.attempts);
  let context: Context | null = null;
  let left: number[] = [];
  try {
    const found = await backgroundContext(bindings, organization_id, defer);
    context = found && { ...found, turn: new WorkTurn() };
    if (context) left = await (kind === 'event' ? handleEvents(context, ids, isLast) : handleDeliveries(context, ids, isLast));
  } catch (error) {
    log.error('messages failed', error, { organization_id, kind, ids });
    if (context && isLast) await tryRecordReason(context, group[0]!.body, error);
    return null;
  }
  for (const { message, body } of group) if (!left.includes(body.id)) message.ack();
  return group.filter(({ body }) => left.includes(body.id));
}

/**
 * Sends messages to the end of `events-bulk`. Returns the messages that stay: those that are tried again, since a message that is moved counts
 * its tries anew and would never have its last; all when the send failed.
 */
async function moveToBulk(group: ParsedMessage[], { bindings, log }: EventsBatch): Promise<ParsedMessage[]> {
  const [moved, stay] = [group.filter(({ message }) => message.attempts === 1), group.filter(({ message }) => message.attempts > 1)];
  if (moved.length === 0) return stay;
  try {
    await bindings.BULK_EVENTS_QUEUE.sendBatch(moved.map(({ body }) => ({ body })));
  } catch (error) {
    log.error('messages could not give way to those of others', error, { messages: moved.length });
    return group;
  }
  for (const { message } of moved) message.ack();
  return stay;
}

const tryRecordReason = ({ database, clock, log }: Context, message: EventsMessage, error: unknown): Promise<void> =>
  recordFailureReason(database, message, error, clock()).catch((second: unknown) => log.error('a reason could not be noted', second));
