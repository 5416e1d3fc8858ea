import type { Context } from '../../context.ts';
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
  /** Names the message for good: asked for again under it, it is the same message, which is never sent twice. */
  sendKey: string;
  /** E.164. */
  to: string;
  content: MessageContent;
  /** Instead of the selected one. */
  provider?: ProviderKey | undefined;
  contactId: number | null;
  automationRunId: number | null;
  /** Whoever asks answers for it that the person wants this message. */
  ignoresSuppression?: boolean;
  /** Epoch ms from which on it must not be sent for now; null: it may at any time. */
  notAfter?: number | null;
  /** How many earlier tries under this key are known to have ended before the provider was asked. */
  unaskedTries?: number;
}

/** `status` in the provider's word; none of them means delivered. */
export type SentMessage = { id: number; provider: string } & ({ messageId: string; status: string } | { failure: SendFailure });

/**
 * Sends a message, once: it is written down, with who asks, before the provider is asked. One that is found `sending` was asked for by
 * somebody who died meanwhile, so that nobody can say whether it was sent: it becomes `unknown`, and is not sent again. Only where whoever
 * wrote it is known to have asked nobody, it is written anew. Trouble of the platform is thrown only while the provider has not been asked.
 */
export async function sendMessage(context: Context, wanted: MessageToSend): Promise<SentMessage> {
  const { database, organization } = context;
  const [configured, found] = await database.batch([
    configStatement(database, organization.id),
    store.findByKeyStatement(database, organization.id, wanted.sendKey),
  ]);
  const known = found![0] && store.toMessageRow(found![0]);
  if (known && !isUnsentAttempt(known, wanted)) return toSentMessage(context, known);
  const unasked = known?.asking ?? null;
  const sender = await resolveSender(context, toConfigRow(configured!), wanted.provider);
  if ('failure' in sender) return recordRefusal(context, { ...wanted, unasked }, wanted.provider ?? '', sender);
  const message = await toProviderMessage(context, sender, wanted);
  if ('failure' in message) return recordRefusal(context, { ...wanted, unasked }, sender.key, message);
  if (wanted.notAfter != null && context.clock() >= wanted.notAfter)
    return recordRefusal(context, { ...wanted, unasked }, sender.key, quietHoursFailure);
  const begun = await claimMessage(context, sender, { ...wanted, unasked }, message);
  return 'isOurs' in begun ? sendToProvider(context, sender, message, begun.id) : begun;
}

/** Whether the message was written down by a try that is known to have asked nobody. */
const isUnsentAttempt = ({ status, asking }: store.MessageRow, { unaskedTries = 0 }: MessageToSend): boolean =>
  status === 'sending' && asking !== null && Number(asking.slice(0, asking.indexOf(':'))) < unaskedTries;

/** `unasked`: who wrote it down before and asked nobody; null: nobody did. */
type PendingMessage = MessageToSend & { unasked: string | null };

const quietHoursFailure: SendFailure = {
  ...localFailure('unknown', 'Quiet hours had begun before the message was sent; it is tried again when they have ended'),
  failure: 'quiet_hours',
  retryable: true,
};

/** What the provider is to be asked for. */
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

/** Writes the message down as `sending`, unless its number must not be written to at this moment, or somebody was faster. */
async function claimMessage(context: Context, sender: Sender, wanted: PendingMessage, message: Message): Promise<ClaimResult> {
  const { database, organization, clock } = context;
  const outcome = { status: 'sending', at: clock() };
  const written = toNewMessage(wanted, sender.key, message);
  const statements = [
    ...deleteUnsent(context, wanted),
    store.insertStatement(database, organization.id, written, outcome, !wanted.ignoresSuppression),
    store.findByKeyStatement(database, organization.id, wanted.sendKey),
  ];
  const found = (await database.batch(statements, 'message.send_key')).at(-1)!;
  const known = found[0] && store.toMessageRow(found[0]);
  // By who asks, whoever comes late, or again after a lost answer, sees whether that is still he himself.
  if (known?.status === 'sending' && known.asking === written.asking) return { id: known.id, isOurs: true };
  if (known) return toSentMessage(context, known);
  const reason = (await findSuppressedPhones(context, [wanted.to])).get(wanted.to) ?? 'until a moment ago';
  return recordRefusal(context, wanted, sender.key, {
    ...localFailure(
      'unknown',
      `suppressed: ${wanted.to} must not be written to (${reason}); remove it from /contacts/suppressions to do so`,
    ),
    failure: 'suppressed',
  });
}

const deleteUnsent = ({ database, organization }: Context, { sendKey, unasked }: PendingMessage) =>
  unasked === null ? [] : [store.deleteUnsentStatement(database, organization.id, sendKey, unasked)];

async function sendToProvider(context: Context, sender: Sender, message: Message, id: number): Promise<SentMessage> {
  const result = await sender.provider.send(message);
  await recordResult(context, id, result);
  if (!('failure' in result)) return { id, provider: sender.key, ...result };
  if (result.failure.startsWith('template_')) invalidateTemplates(context, sender);
  return { id, provider: sender.key, failure: result };
}

/** What came of it is known, so a failure to write it down must not have anybody send it again: it stays `sending`, and ends as `unknown`. */
async function recordResult({ database, organization, clock, log }: Context, id: number, result: SendResult): Promise<void> {
  const at = clock();
  const outcome: store.MessageOutcome =
    'failure' in result ? { status: result.outcomeUnknown ? 'unknown' : 'failed', at, failure: result } : { ...result, at };
  try {
    await database.all(store.advanceStatement(database, organization.id, id, outcome, at), 'idempotent');
  } catch (error) {
    log.error('what became of a message could not be written down', error, { message_record: id, status: outcome.status });
  }
}

/** Keeps a message that no provider was asked for, with the reason. */
async function recordRefusal(
  context: Context,
  wanted: PendingMessage,
  provider: ProviderKey | '',
  failure: SendFailure,
): Promise<SentMessage> {
  const { database, organization, clock } = context;
  const outcome = { status: 'failed', at: clock(), failure };
  const results = await database.batch(
    [
      ...deleteUnsent(context, wanted),
      store.insertStatement(database, organization.id, toNewMessage(wanted, provider), outcome, false),
      store.findByKeyStatement(database, organization.id, wanted.sendKey),
    ],
    'message.send_key',
  );
  return { id: store.toMessageRow(results.at(-1)![0]!).id, provider, failure };
}

/** As it is written down; `message`: as the provider is asked for it, where it has come to that. */
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

/** What is known of a message that was asked for before. */
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

/** What may be over by the next attempt, which has a key of its own. */
const transientFailures = new Set<SendFailure['failure']>(['rate_limited', 'provider_down', 'quiet_hours']);

const interruptedMessage =
  'The service stopped while the message was being sent, and nobody can say whether it was, so it was not sent again; look at the provider';
