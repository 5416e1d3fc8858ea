import { LRUCache } from 'lru-cache';
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

/** How many messages of one organization are handled together, and how long it may take before the rest gives way. */
const pageSize = { events: 25, 'events-costly': 2 };
const groupBudgetMs = 500;

/** How long an organization whose turn was over has a queue apart, and until when each has it, as far as this isolate knows. */
const apartMs = 60_000;
const apartUntil = new LRUCache<number, number>({ max: 10_000 });

interface ParsedMessage {
  message: Message;
  body: EventsMessage;
}

interface EventsBatch {
  queue: 'events' | 'events-costly';
  bindings: Env;
  log: Logger;
  defer: Context['defer'];
}

/**
 * Events and deliveries of one organization are handled together: a few D1 calls for all of them. Organizations are handled side by
 * side, and what one has beyond its time goes to the end of the queue. What takes more than a turn to evaluate goes to the queue
 * `events-costly`, so that no organization waits for the conditions and schemas of another.
 */
export async function consumeEvents(batch: MessageBatch, bindings: Env, log: Logger, defer: Context['defer']): Promise<void> {
  const queue = batch.queue.startsWith('events-costly') ? 'events-costly' : 'events';
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
  const isApart = () => batch.queue === 'events' && (apartUntil.get(organization_id) ?? 0) > startedAt;
  if (isApart() && (await moveTo('events-costly', group, batch))) return;
  // What is apart holds up none but its like.
  const turn = batch.queue === 'events' ? new WorkTurn() : undefined;
  let waiting = group;
  while (waiting.length > 0) {
    const isFirst = waiting === group;
    const isOverTime = !isFirst && Date.now() - startedAt > groupBudgetMs;
    if (isOverTime && (await moveTo(batch.queue, waiting, batch))) return;
    const page = waiting.slice(0, pageSize[batch.queue]);
    if (!isFirst) await yieldToEventLoop();
    const left = await handlePage(page, batch, turn);
    waiting = [...left, ...waiting.slice(page.length)];
    if (turn?.isOver) apartUntil.set(organization_id, Date.now() + apartMs);
    if (turn?.isOver && waiting.length > 0 && (await moveTo('events-costly', waiting, batch))) return;
  }
}

/** Settles the messages, but for those that it returns: the turn was over before they were looked at. */
async function handlePage(page: ParsedMessage[], batch: EventsBatch, turn: WorkTurn | undefined): Promise<ParsedMessage[]> {
  const left = await handleTogether(page, batch, turn);
  if (left) return left;
  // Together they failed; one by one the sound ones get through.
  for (const one of page) {
    const isSettled = page.length > 1 && (await handleTogether([one], batch, turn));
    if (!isSettled) one.message.retry({ delaySeconds: retryDelaySeconds(one.message.attempts) });
  }
  return [];
}

/**
 * Handles messages of one organization and kind and acknowledges them. Returns the messages for which the turn had no time, never the
 * first; null: it failed, and none is settled.
 */
async function handleTogether(
  group: ParsedMessage[],
  { bindings, log, defer }: EventsBatch,
  turn: WorkTurn | undefined,
): Promise<ParsedMessage[] | null> {
  const { organization_id, kind } = group[0]!.body;
  const ids = group.map(({ body }) => body.id);
  // Tried for the last time alone, so that each is known by its own reason.
  const isLast = group.length === 1 && isLastAttempt(group[0]!.message.attempts);
  let context: Context | null = null;
  let left: number[] = [];
  try {
    const found = await backgroundContext(bindings, organization_id, defer);
    context = found && { ...found, ...(turn && { turn }) };
    if (context) left = await (kind === 'event' ? handleEvents(context, ids, isLast) : handleDeliveries(context, ids, isLast));
  } catch (error) {
    log.error('messages failed', error, { organization_id, kind, ids });
    if (context && isLast) await tryRecordReason(context, group[0]!.body, error);
    return null;
  }
  for (const { message, body } of group) if (!left.includes(body.id)) message.ack();
  return group.filter(({ body }) => left.includes(body.id));
}

/** Sends messages to the end of a queue. False when that failed, and they are to be handled where they are. */
async function moveTo(queue: EventsBatch['queue'], group: ParsedMessage[], { bindings, log }: EventsBatch): Promise<boolean> {
  const target = queue === 'events' ? bindings.EVENTS_QUEUE : bindings.COSTLY_EVENTS_QUEUE;
  try {
    await target.sendBatch(group.map(({ body }) => ({ body })));
  } catch (error) {
    log.error('messages could not give way to those of others', error, { messages: group.length });
    return false;
  }
  for (const { message } of group) message.ack();
  return true;
}

const tryRecordReason = ({ database, clock, log }: Context, message: EventsMessage, error: unknown): Promise<void> =>
  recordFailureReason(database, message, error, clock()).catch((second: unknown) => log.error('a reason could not be noted', second));
