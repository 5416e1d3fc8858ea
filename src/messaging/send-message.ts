import type { Context } from '../accounts/context.ts';
import { suppressedPhones } from '../contacts/suppressions/suppressed.ts';
import { localFailure } from '../providers/messaging/failures.ts';
import type { Message, ProviderKey, SendResult } from '../providers/messaging/messaging.ts';
import { configOf, configStatement } from './config-store.ts';
import * as store from './message-store.ts';
import { senderOf, type Sender, type SendingFailure } from './sender.ts';
import { forgetTemplates, templateOf } from './templates.ts';

export type Content =
  | { kind: 'template'; templateName: string; language: string; params: Record<string, string> }
  | { kind: 'text'; text: string };

export interface WantedMessage {
  /** Names the message for good: asked for again under it, it is the same message, which is never sent twice. */
  sendKey: string;
  /** E.164. */
  to: string;
  content: Content;
  /** Instead of the selected one. */
  provider?: ProviderKey | undefined;
  contactId: number | null;
  automationRunId: number | null;
  /** Whoever asks answers for it that the person wants this message. */
  evenIfSuppressed?: boolean;
  /** Epoch ms from which on it must not be sent for now; null: it may at any time. */
  notAfter?: number | null;
  /** How many earlier tries under this key are known to have ended before the provider was asked. */
  unaskedTries?: number;
}

/** `status` in the provider's word; none of them means delivered. */
export type SentMessage = { id: number; provider: string } & ({ messageId: string; status: string } | { failure: SendingFailure });

/**
 * Sends a message, once: it is written down, with who asks, before the provider is asked. One that is found `sending` was asked for by
 * somebody who died meanwhile, so that nobody can say whether it was sent: it becomes `unknown`, and is not sent again. Only where whoever
 * wrote it is known to have asked nobody, it is written anew. Trouble of the platform is thrown only while the provider has not been asked.
 */
export async function sendMessage(context: Context, wanted: WantedMessage): Promise<SentMessage> {
  const { database, organization } = context;
  const [configured, found] = await database.batch([
    configStatement(database, organization.id),
    store.byKeyStatement(database, organization.id, wanted.sendKey),
  ]);
  const known = found![0] && store.messageOf(found![0]);
  if (known && !isUnasked(known, wanted)) return knownMessage(context, known);
  const unasked = known?.asking ?? null;
  const sender = await senderOf(context, configOf(configured!), wanted.provider);
  if ('failure' in sender) return refused(context, { ...wanted, unasked }, wanted.provider ?? '', sender);
  const message = await messageOf(context, sender, wanted);
  if ('failure' in message) return refused(context, { ...wanted, unasked }, sender.key, message);
  if (wanted.notAfter != null && context.clock() >= wanted.notAfter) return refused(context, { ...wanted, unasked }, sender.key, quiet);
  const begun = await begin(context, sender, { ...wanted, unasked }, message);
  return 'isOurs' in begun ? ask(context, sender, message, begun.id) : begun;
}

/** Whether the message was written down by a try that is known to have asked nobody. */
const isUnasked = ({ status, asking }: store.MessageRow, { unaskedTries = 0 }: WantedMessage): boolean =>
  status === 'sending' && asking !== null && Number(asking.slice(0, asking.indexOf(':'))) < unaskedTries;

/** `unasked`: who wrote it down before and asked nobody; null: nobody did. */
type Wanted = WantedMessage & { unasked: string | null };

const quiet: SendingFailure = {
  ...localFailure('unknown', 'Quiet hours had begun before the message was sent; it is tried again when they have ended'),
  failure: 'quiet_hours',
  retryable: true,
};

/** What the provider is to be asked for. */
async function messageOf(
  context: Context,
  sender: Sender,
  { to, content, sendKey: key }: WantedMessage,
): Promise<Message | SendingFailure> {
  const addressed = { to, key, callbackUrl: sender.callbackUrl };
  if (content.kind === 'text') return { ...addressed, text: content.text };
  const chosen = await templateOf(context, sender, { name: content.templateName, language: content.language });
  return 'failure' in chosen ? chosen : { ...addressed, template: chosen.template, params: content.params };
}

type Begun = { id: number; isOurs: true } | SentMessage;

/** Writes the message down as `sending`, unless its number must not be written to at this moment, or somebody was faster. */
async function begin(context: Context, sender: Sender, wanted: Wanted, message: Message): Promise<Begun> {
  const { database, organization, clock } = context;
  const outcome = { status: 'sending', at: clock() };
  const written = newMessage(wanted, sender.key, message);
  const statements = [
    ...forgetUnasked(context, wanted),
    store.insertStatement(database, organization.id, written, outcome, !wanted.evenIfSuppressed),
    store.byKeyStatement(database, organization.id, wanted.sendKey),
  ];
  const found = (await database.batch(statements, 'message.send_key')).at(-1)!;
  const known = found[0] && store.messageOf(found[0]);
  // By who asks, whoever comes late, or again after a lost answer, sees whether that is still he himself.
  if (known?.status === 'sending' && known.asking === written.asking) return { id: known.id, isOurs: true };
  if (known) return knownMessage(context, known);
  const reason = (await suppressedPhones(context, [wanted.to])).get(wanted.to) ?? 'until a moment ago';
  return refused(context, wanted, sender.key, {
    ...localFailure(
      'unknown',
      `suppressed: ${wanted.to} must not be written to (${reason}); remove it from /contacts/suppressions to do so`,
    ),
    failure: 'suppressed',
  });
}

const forgetUnasked = ({ database, organization }: Context, { sendKey, unasked }: Wanted) =>
  unasked === null ? [] : [store.forgetStatement(database, organization.id, sendKey, unasked)];

async function ask(context: Context, sender: Sender, message: Message, id: number): Promise<SentMessage> {
  const result = await sender.provider.send(message);
  await record(context, id, result);
  if (!('failure' in result)) return { id, provider: sender.key, ...result };
  if (result.failure.startsWith('template_')) forgetTemplates(context, sender);
  return { id, provider: sender.key, failure: result };
}

/** What came of it is known, so a failure to write it down must not have anybody send it again: it stays `sending`, and ends as `unknown`. */
async function record({ database, organization, clock, log }: Context, id: number, result: SendResult): Promise<void> {
  const at = clock();
  const outcome: store.Outcome =
    'failure' in result ? { status: result.outcomeUnknown ? 'unknown' : 'failed', at, failure: result } : { ...result, at };
  try {
    await database.all(store.advanceStatement(database, organization.id, id, outcome, at), 'same values');
  } catch (error) {
    log.error('what became of a message could not be written down', error, { message_record: id, status: outcome.status });
  }
}

/** Keeps a message that no provider was asked for, with the reason. */
async function refused(context: Context, wanted: Wanted, provider: ProviderKey | '', failure: SendingFailure): Promise<SentMessage> {
  const { database, organization, clock } = context;
  const outcome = { status: 'failed', at: clock(), failure };
  const results = await database.batch(
    [
      ...forgetUnasked(context, wanted),
      store.insertStatement(database, organization.id, newMessage(wanted, provider), outcome, false),
      store.byKeyStatement(database, organization.id, wanted.sendKey),
    ],
    'message.send_key',
  );
  return { id: store.messageOf(results.at(-1)![0]!).id, provider, failure };
}

/** As it is written down; `message`: as the provider is asked for it, where it has come to that. */
function newMessage(wanted: Wanted, provider: ProviderKey | '', message?: Message): store.NewMessage {
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
async function knownMessage({ database, organization, clock }: Context, row: store.MessageRow): Promise<SentMessage> {
  const { id, provider } = row;
  if (row.messageId !== null) return { id, provider, messageId: row.messageId, status: row.status };
  const outcomeUnknown = row.status === 'sending' || row.status === 'unknown';
  const kind = (row.failureClass ?? 'unknown') as SendingFailure['failure'];
  const failure: SendingFailure = {
    failure: kind,
    message: row.error ?? diedMeanwhile,
    code: row.failureCode,
    words: null,
    retryable: !outcomeUnknown && passing.has(kind),
    ...(outcomeUnknown && { outcomeUnknown }),
  };
  if (row.status === 'sending') {
    const at = clock();
    await database.all(store.advanceStatement(database, organization.id, id, { status: 'unknown', at, failure }, at), 'same values');
  }
  return { id, provider, failure };
}

/** What may be over by the next attempt, which has a key of its own. */
const passing = new Set<SendingFailure['failure']>(['rate_limited', 'provider_down', 'quiet_hours']);

const diedMeanwhile =
  'The service stopped while the message was being sent, and nobody can say whether it was, so it was not sent again; look at the provider';
