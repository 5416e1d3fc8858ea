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
const pageSize = 25;
const groupBudgetMs = 500;
/** Of an organization whose last turn was over before its messages were handled: most of a page would be read in vain. */
const pageSizeOfBusy = 2;
/** How long what is costly to evaluate waits for its next turn, in this isolate. */
const restSeconds = 1;
const restingUntil = new Map<number, number>();

interface ParsedMessage {
  message: Message;
  body: EventsMessage;
}

/**
 * Events and deliveries of one organization are handled together: a few D1 calls for all of them. Organizations are handled side by
 * side, and what one has beyond its turn or its time goes to the end of the queue, so that none waits for the many of another.
 */
export async function consumeEvents(batch: MessageBatch, bindings: Env, log: Logger, defer: Context['defer']): Promise<void> {
  const readable = batch.messages.flatMap((message) => {
    const parsed = EventsMessage.safeParse(message.body);
    if (parsed.success) return { message, body: parsed.data };
    log.error('unreadable message dropped; the minute tick sends its record again', parsed.error, { body: message.body });
    message.ack();
    return [];
  });
  const groups = Map.groupBy(readable, ({ body }) => `${body.organization_id}:${body.kind}`);
  await Promise.all([...groups.values()].map((group) => consumeGroup(group, bindings, log, defer)));
}

async function consumeGroup(group: ParsedMessage[], bindings: Env, log: Logger, defer: Context['defer']): Promise<void> {
  const { organization_id } = group[0]!.body;
  const startedAt = Date.now();
  if ((restingUntil.get(organization_id) ?? 0) > startedAt && (await requeue(group, bindings, log, restSeconds))) return;
  const turn = new WorkTurn();
  let waiting = group;
  while (waiting.length > 0) {
    const isFirst = waiting === group;
    const isOverTime = !isFirst && Date.now() - startedAt > groupBudgetMs;
    if (isOverTime && (await requeue(waiting, bindings, log))) return;
    const together = waiting.slice(0, restingUntil.has(organization_id) ? pageSizeOfBusy : pageSize);
    if (!isFirst) await yieldToEventLoop();
    const left = await handlePage(together, turn, bindings, log, defer);
    waiting = [...left, ...waiting.slice(together.length)];
    if (!turn.isOver || waiting.length === 0) continue;
    restingUntil.set(organization_id, Date.now() + restSeconds * 1000);
    if (await requeue(waiting, bindings, log, restSeconds)) return;
  }
  if (!turn.isOver) restingUntil.delete(organization_id);
}

/** Settles the messages, but for those that it gives back: the turn was over before they were looked at. */
async function handlePage(
  together: ParsedMessage[],
  turn: WorkTurn,
  bindings: Env,
  log: Logger,
  defer: Context['defer'],
): Promise<ParsedMessage[]> {
  const left = await handleTogether(together, turn, bindings, log, defer);
  if (left) return left;
  // Together they failed; one by one the sound ones get through.
  for (const one of together) {
    const isSettled = together.length > 1 && (await handleTogether([one], turn, bindings, log, defer));
    if (!isSettled) one.message.retry({ delaySeconds: retryDelaySeconds(one.message.attempts) });
  }
  return [];
}

/** Handles messages of one organization and kind and acknowledges them, at least the first; gives back the others, or null when it failed and none is settled. */
async function handleTogether(
  group: ParsedMessage[],
  turn: WorkTurn,
  bindings: Env,
  log: Logger,
  defer: Context['defer'],
): Promise<ParsedMessage[] | null> {
  const { organization_id, kind } = group[0]!.body;
  const ids = group.map(({ body }) => body.id);
  // Tried for the last time alone, so that each is known by its own reason.
  const isLast = group.length === 1 && isLastAttempt(group[0]!.message.attempts);
  let context: Context | null = null;
  let left: number[] = [];
  try {
    const found = await backgroundContext(bindings, organization_id, defer);
    context = found && { ...found, turn };
    if (context) left = await (kind === 'event' ? handleEvents(context, ids, isLast) : handleDeliveries(context, ids, isLast));
  } catch (error) {
    log.error('messages failed', error, { organization_id, kind, ids });
    if (context && isLast) await tryRecordReason(context, group[0]!.body, error);
    return null;
  }
  const [waiting, handled] = [group.filter(({ body }) => left.includes(body.id)), group.filter(({ body }) => !left.includes(body.id))];
  for (const { message } of handled) message.ack();
  return waiting;
}

/** Sends messages to the end of the queue. False when that failed, and they are to be handled where they are. */
async function requeue(group: ParsedMessage[], bindings: Env, log: Logger, delaySeconds = 0): Promise<boolean> {
  try {
    await bindings.EVENTS_QUEUE.sendBatch(
      group.map(({ body }) => ({ body })),
      { delaySeconds },
    );
  } catch (error) {
    log.error('messages could not give way to those of others', error, { messages: group.length });
    return false;
  }
  for (const { message } of group) message.ack();
  return true;
}

const tryRecordReason = ({ database, clock, log }: Context, message: EventsMessage, error: unknown): Promise<void> =>
  recordFailureReason(database, message, error, clock()).catch((second: unknown) => log.error('a reason could not be noted', second));
