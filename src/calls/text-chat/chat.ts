import { randomUUID } from 'node:crypto';
import type { Context } from '../../context.ts';
import { withCallObject } from '../rpc.ts';
import { toIdempotentName } from '../records/idempotent-run.ts';
import type { ChatMessage, ChatRefusal, ChatState } from './contract.ts';
import { conflict, notFound, type ServiceError } from '../../library/errors.ts';

export interface SendMessageInput {
  text: string;
  /** The revision after which the message is said; undefined: any. */
  expectedRevision?: number | undefined;
  /** The key of a message and its repeats: it is said once in this chat. */
  idempotencyKey?: string | undefined;
}

/**
 * Sends a message to a chat, and answers all new messages. A message that comes during an answer cuts that answer short, and both messages
 * are answered together. Throws 404, and 409 when the chat has ended or has gone on since `expectedRevision`.
 */
export async function sendMessage(
  { bindings, organization }: Context,
  agentId: number,
  runId: number,
  input: SendMessageInput,
): Promise<ChatState> {
  const message = toChatMessage(input);
  const { refusal, state } = await withCallObject(bindings, organization.id, runId, (object) =>
    object.sendMessage(organization.id, runId, message),
  );
  if (refusal) throw toChatError(refusal, agentId);
  return state!;
}

function toChatMessage({ idempotencyKey, ...message }: SendMessageInput): ChatMessage {
  const key = idempotencyKey === undefined ? randomUUID() : toIdempotentName({ of: 'message', input: message, idempotencyKey });
  return { key, text: message.text, expectedRevision: message.expectedRevision ?? null };
}

/**
 * As `sendMessage`, with server-sent events: `token` { text } word by word, `message` { id, role, text, at } once it is said, then `done`
 * with the answer of `sendMessage`, or `error` { detail }. The answer goes on when the reader disconnects.
 */
export async function streamMessage(
  { bindings, organization }: Context,
  agentId: number,
  runId: number,
  input: SendMessageInput,
): Promise<Response> {
  const message = toChatMessage(input);
  const { refusal, stream } = await withCallObject(bindings, organization.id, runId, (object) =>
    object.streamMessage(organization.id, runId, message),
  );
  if (refusal) throw toChatError(refusal, agentId);
  return new Response(stream, { headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-cache' } });
}

/** A refusal as the error of the API. */
function toChatError(refusal: ChatRefusal, agentId: number): ServiceError {
  switch (refusal.refused) {
    case 'gone':
      return notFound('Run');
    case 'call':
      return conflict('This run is a call, which takes no written messages; start a chat with mode "textchat"');
    case 'completed':
      return conflict(`The chat has ended; start a new one with POST /workflow/${agentId}/runs`);
    case 'stale':
      return conflict(
        `The chat has gone on: its revision is ${refusal.revision}; read what was said, and send the message with that expected_revision, or without one`,
      );
  }
}

/** Ends a chat. The run is completed afterwards, unless the language model does not answer. Repeatable. Throws 404 and 409. */
export async function endChat({ bindings, organization }: Context, agentId: number, runId: number): Promise<void> {
  const { refusal } = await withCallObject(bindings, organization.id, runId, (object) => object.endChat(organization.id, runId));
  if (refusal && refusal.refused !== 'completed') throw toChatError(refusal, agentId);
}

/** Wakes the object of a chat whose alarm is lost. A chat that never began begins, and ends by its own timer. Repeatable. */
export const wakeStalledChat = (bindings: Env, organizationId: number, runId: number): Promise<boolean> =>
  withCallObject(bindings, organizationId, runId, async (object) => {
    await object.begin(organizationId, runId);
    return object.wakeStalled();
  });
