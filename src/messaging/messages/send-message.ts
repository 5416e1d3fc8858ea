import type { Context } from '../../context.ts';
import { publish } from '../../outbox/published-events.ts';
import type { ContactPolicy } from '../../contact-policy/policy.ts';
import { policyStatement, toPolicy } from '../../contact-policy/read-policy.ts';
import { releaseMessageStatement } from '../../contact-policy/release-contacts.ts';
import { type ContactVerdict, reserveContacts, toToleranceMs } from '../../contact-policy/reserve-contacts.ts';
import { toOnePersonSpelling } from '../../library/phone/one-person.ts';
import { findSuppressedPhones } from '../../contacts/suppressions/suppressions.ts';
import { localFailure } from '../../providers/messaging/failures.ts';
import type { Message, ProviderKey, SendResult } from '../../providers/messaging/messaging.ts';
import { toConfigRow, configStatement } from '../config/store.ts';
import * as store from './store.ts';
import { resolveSender, type Sender, type SendFailure } from './sender.ts';
import { invalidateTemplates, findTemplate } from '../templates/templates.ts';

export type MessageContent =
  | { kind: 'template'; templateName: string; language: string; params: Record<string, string> }
  | { kind: 'text'; text: string };

export interface MessageToSend {
  /** Identifies the message: two requests with one key are one message, which is sent once. */
  sendKey: string;
  /** E.164. */
  to: string;
  content: MessageContent;
  /** Undefined: the selected provider. */
  provider?: ProviderKey | undefined;
  contactId: number | null;
  automationRunId: number | null;
  /** True: a suppressed number is written to; the caller is responsible for the person's consent. */
  ignoresSuppression?: boolean;
  /** Epoch ms from which the message may not be sent, because quiet hours begin; null: no limit. */
  notAfter?: number | null;
  /** The number of earlier tries with this key that are known to have ended before a request to the provider. */
  unaskedTries?: number;
}

/**
 * `id` null: the contact policy holds the message, which is not stored then. `status` is the provider's word for an accepted message; it never
 * means delivered.
 */
export type SentMessage = { id: number | null; provider: string } & ({ messageId: string; status: string } | { failure: SendFailure });

/**
 * Sends a message once. The message is stored, with the name of this try, before the provider is asked. A message that is found `sending`
 * was left by a try that died: nobody knows whether it was sent, so it becomes `unknown` and is not sent again. Only a try that is known to
 * have asked no provider is replaced. Throws trouble of the platform only before the request to the provider.
 */
export async function sendMessage(context: Context, wanted: MessageToSend): Promise<SentMessage> {
  const { database, organization } = context;
  const [configured, found, policies] = await database.batch([
    configStatement(database, organization.id),
    store.findByKeyStatement(database, organization.id, wanted.sendKey),
    policyStatement(context),
  ]);
  const known = found[0] && store.toMessageRow(found[0]);
  if (known && !isUnsentAttempt(known, wanted)) return toSentMessage(context, known);
  const unasked = known?.asking ?? null;
  const sender = await resolveSender(context, toConfigRow(configured), wanted.provider);
  if ('failure' in sender) return recordRefusal(context, { ...wanted, unasked }, wanted.provider ?? '', sender);
  const message = await toProviderMessage(context, sender, wanted);
  if ('failure' in message) return recordRefusal(context, { ...wanted, unasked }, sender.key, message);
  if (wanted.notAfter != null && context.clock() >= wanted.notAfter)
    return recordRefusal(context, { ...wanted, unasked }, sender.key, quietHoursFailure);
  // A test message, which suppressions do not stop, is outside of the policy, too.
  const policy = wanted.ignoresSuppression ? null : toPolicy(policies);
  const reservation = policy && (await reserveMessage(context, policy, wanted));
  if (reservation && 'failure' in reservation) {
    // The decision is the record of a message that is held: the next try has another key.
    if (reservation.until !== undefined && unasked === null) return { id: null, provider: sender.key, failure: reservation };
    return recordRefusal(context, { ...wanted, unasked }, sender.key, reservation);
  }
  const pending = { ...wanted, unasked, reservation };
  const begun = await claimMessage(context, sender, pending, message);
  return 'isOurs' in begun ? sendToProvider(context, sender, message, begun.id, pending) : begun;
}

/** Reserves the message by the contact policy, or answers why it may not be sent now. */
async function reserveMessage(context: Context, policy: ContactPolicy, wanted: MessageToSend): Promise<Reservation | SendFailure> {
  const { sendKey: key, to, automationRunId } = wanted;
  const startsBefore = context.clock() + toToleranceMs(context);
  const attempt = {
    key,
    phone: toOnePersonSpelling(to),
    channel: 'message' as const,
    source: automationRunId === null ? ('single' as const) : ('journey' as const),
    sourceId: automationRunId ?? 0,
  };
  const verdict: ContactVerdict | undefined = (await reserveContacts(context, policy, [attempt])).get(key);
  if (!verdict || verdict.kind === 'allowed')
    return { key, phone: attempt.phone, startsBefore: Math.min(verdict?.until ?? Infinity, startsBefore) };
  const failed = localFailure('unknown', `contact_policy: ${verdict.reason}`);
  if (verdict.kind === 'skipped') return { ...failed, failure: 'contact_policy' };
  return { ...failed, failure: 'contact_policy_hold', retryable: true, until: verdict.until };
}

/** Whether the message was stored by a try that is known to have asked no provider. */
const isUnsentAttempt = ({ status, asking }: store.MessageRow, { unaskedTries = 0 }: MessageToSend): boolean =>
  status === 'sending' && asking !== null && Number(asking.slice(0, asking.indexOf(':'))) < unaskedTries;

/** What the contact policy reserved for a message. `startsBefore`: the provider must be asked before it, epoch ms. */
type Reservation = Parameters<typeof releaseMessageStatement>[1] & { startsBefore: number };

/** `unasked`: the `asking` of a stored try that asked no provider; null: there is none. */
type PendingMessage = MessageToSend & { unasked: string | null; reservation?: Reservation | null };

const quietHoursFailure: SendFailure = {
  ...localFailure('unknown', 'Quiet hours had begun before the message was sent; it is tried again when they have ended'),
  failure: 'quiet_hours',
  retryable: true,
};

/** A try that came too late is repeated after this time, and decided anew. */
const lateRetryMs = 1000;

/** Why a message must not be sent at `now` (epoch ms) any more; null: it may. */
function findLateness({ notAfter, reservation }: PendingMessage, now: number): SendFailure | null {
  if (notAfter != null && now >= notAfter) return quietHoursFailure;
  if (!reservation || now < reservation.startsBefore) return null;
  const failed = localFailure('unknown', 'contact_policy: the time in which the message was allowed is over; it is decided anew');
  return { ...failed, failure: 'contact_policy_hold', retryable: true, until: now + lateRetryMs };
}

/** The message in the form that providers take. */
async function toProviderMessage(
  context: Context,
  sender: Sender,
  { to, content, sendKey: key }: MessageToSend,
): Promise<Message | SendFailure> {
  const addressed = { to, key, callbackUrl: sender.callbackUrl };
  if (content.kind === 'text') return { ...addressed, text: content.text };
  const chosen = await findTemplate(context, sender, { name: content.templateName, language: content.language });
  return 'failure' in chosen ? chosen : { ...addressed, template: chosen.template, params: content.params };
}

type ClaimResult = { id: number; isOurs: true } | SentMessage;

/** Stores the message as `sending`, unless its number is suppressed or another worker has stored it. */
async function claimMessage(context: Context, sender: Sender, wanted: PendingMessage, message: Message): Promise<ClaimResult> {
  const outcome = { status: 'sending', at: context.clock() };
  const written = toNewMessage(wanted, sender.key, message);
  const known = await writeMessage(context, wanted, written, outcome, !wanted.ignoresSuppression);
  // `asking` shows a late worker, and a repeat after a lost answer, whether the stored message is still its own.
  if (known?.status === 'sending' && known.asking === written.asking) return { id: known.id, isOurs: true };
  if (known) return toSentMessage(context, known);
  const reason = (await findSuppressedPhones(context, [wanted.to])).get(wanted.to) ?? 'until a moment ago';
  if (wanted.reservation) await context.database.all(releaseMessageStatement(context, wanted.reservation), 'idempotent');
  return recordRefusal(context, wanted, sender.key, {
    ...localFailure(
      'unknown',
      `suppressed: ${wanted.to} must not be written to (${reason}); remove it from /contacts/suppressions to do so`,
    ),
    failure: 'suppressed',
  });
}

/** Writes a message in place of its unsent one, unless its key exists or its number is suppressed. Returns the stored message of the key. */
async function writeMessage(
  { database, organization }: Context,
  { sendKey, unasked }: PendingMessage,
  written: store.NewMessage,
  outcome: store.MessageOutcome,
  unlessSuppressed: boolean,
): Promise<store.MessageRow | undefined> {
  const statements = [
    ...(unasked === null ? [] : [store.deleteUnsentStatement(database, organization.id, sendKey, unasked)]),
    store.insertStatement(database, organization.id, written, outcome, unlessSuppressed),
    store.findByKeyStatement(database, organization.id, sendKey),
  ];
  const [found] = (await database.batch(statements, 'message.send_key')).at(-1) as store.StoredMessage[];
  return found && store.toMessageRow(found);
}

async function sendToProvider(
  context: Context,
  sender: Sender,
  message: Message,
  id: number,
  pending: PendingMessage,
): Promise<SentMessage> {
  // Storing the message may have taken long. Nothing is awaited between the look at the clock and the request to the provider.
  const late = findLateness(pending, context.clock());
  const result = late ?? (await sender.provider.send(message));
  await recordResult(context, id, result, pending.reservation ?? null);
  if (!('failure' in result)) return { id, provider: sender.key, ...result };
  if (result.failure.startsWith('template_')) invalidateTemplates(context, sender);
  return { id, provider: sender.key, failure: result };
}

/** Stores the provider's answer, or why it was not asked. Never throws, because a retry would send again: without the answer the message stays `sending` and ends as `unknown`. */
async function recordResult(
  context: Context,
  id: number,
  result: SendResult | SendFailure,
  reservation: Reservation | null,
): Promise<void> {
  const { database, organization, clock, log } = context;
  const at = clock();
  const outcome: store.MessageOutcome =
    'failure' in result ? { status: result.outcomeUnknown ? 'unknown' : 'failed', at, failure: result } : { ...result, at };
  try {
    const advance = store.advanceStatement(database, organization.id, id, outcome, at);
    // A message that the provider has certainly not taken reached nobody.
    const release = reservation && outcome.status === 'failed' ? [releaseMessageStatement(context, reservation)] : [];
    await database.batch([advance, ...release], 'idempotent');
    if (outcome.status === 'failed') await publish(context, 'webhook_event.recorded', { type: 'message.failed' });
  } catch (error) {
    log.error('what became of a message could not be written down', error, { message_record: id, status: outcome.status });
  }
}

/** Stores a message that no provider was asked for, with the reason. */
async function recordRefusal(
  context: Context,
  wanted: PendingMessage,
  provider: ProviderKey | '',
  failure: SendFailure,
): Promise<SentMessage> {
  const outcome = { status: 'failed', at: context.clock(), failure };
  const stored = await writeMessage(context, wanted, toNewMessage(wanted, provider), outcome, false);
  await publish(context, 'webhook_event.recorded', { type: 'message.failed' });
  return { id: stored!.id, provider, failure };
}

/** The message to store. `message`: the provider's form of it, where it was built. */
function toNewMessage(wanted: PendingMessage, provider: ProviderKey | '', message?: Message): store.NewMessage {
  const { sendKey, to, content, contactId, automationRunId } = wanted;
  const chosen = message && 'template' in message ? message.template : undefined;
  const named = content.kind === 'template' ? content : undefined;
  return {
    sendKey,
    asking: `${wanted.unaskedTries ?? 0}:${crypto.randomUUID()}`,
    provider,
    kind: content.kind,
    recipient: to,
    contactId,
    templateName: chosen?.name ?? (named?.templateName || null),
    language: chosen?.language ?? (named?.language || null),
    automationRunId,
  };
}

/** The result of a message that an earlier request stored. */
async function toSentMessage({ database, organization, clock }: Context, row: store.MessageRow): Promise<SentMessage> {
  const { id, provider } = row;
  if (row.messageId !== null) return { id, provider, messageId: row.messageId, status: row.status };
  const outcomeUnknown = row.status === 'sending' || row.status === 'unknown';
  const kind = (row.failureClass ?? 'unknown') as SendFailure['failure'];
  const failure: SendFailure = {
    failure: kind,
    message: row.error ?? interruptedMessage,
    code: row.failureCode,
    words: null,
    retryable: !outcomeUnknown && transientFailures.has(kind),
    ...(outcomeUnknown && { outcomeUnknown }),
  };
  if (row.status === 'sending') {
    const at = clock();
    await database.all(store.advanceStatement(database, organization.id, id, { status: 'unknown', at, failure }, at), 'idempotent');
  }
  return { id, provider, failure };
}

/** Failures that may be over by the next attempt, which has another key. */
const transientFailures = new Set<SendFailure['failure']>(['rate_limited', 'provider_down', 'quiet_hours', 'contact_policy_hold']);

const interruptedMessage =
  'The service stopped while the message was being sent, and nobody can say whether it was, so it was not sent again; look at the provider';
