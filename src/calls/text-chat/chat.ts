import { randomUUID } from 'node:crypto';
import type { Context } from '../../context.ts';
import { withCallObject } from '../rpc.ts';
import { toIdempotentName } from '../records/idempotent-run.ts';
import type { ChatMessage, ChatRefusal, ChatState } from './contract.ts';
import { conflict, notFound, type ServiceError } from '../../library/errors.ts';

export interface SendMessageInput {
  text: string;
  /** Undefined: whatever was said meanwhile. */
  expectedRevision?: number | undefined;
  /** Under which the same is sent again when nothing was heard: it is said once in this chat. */
  idempotencyKey?: string | undefined;
}

function toChatMessage({ idempotencyKey, ...message }: SendMessageInput): ChatMessage {
  const key = idempotencyKey === undefined ? randomUUID() : toIdempotentName({ of: 'message', input: message, idempotencyKey });
  return { key, text: message.text, expectedRevision: message.expectedRevision ?? null };
}

/**
 * Says something in a chat and answers what that added. A message that comes while another one is being answered ends that answer where it
 * is, and both are answered together. Throws 404, and 409 when the chat has ended or has gone on since `expectedRevision`.
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

/**
 * The same, as server-sent events: `token` { text } word by word, `message` { id, role, text, at } once it is said, then `done` with what
 * `sendMessage` answers, or `error` { detail }. Whoever goes away stops nothing.
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

/** The error that a caller sees. */
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

/** Ends a chat; the run is completed when this answers, unless the language model does not answer. Repeatable. Throws 404 and 409. */
export async function endChat({ bindings, organization }: Context, agentId: number, runId: number): Promise<void> {
  const { refusal } = await withCallObject(bindings, organization.id, runId, (object) => object.endChat(organization.id, runId));
  if (refusal && refusal.refused !== 'completed') throw toChatError(refusal, agentId);
}

/** Has a chat go on whose object did not wake by itself. One that never began begins, and ends by its own time. Repeatable. */
export const wakeStalledChat = (bindings: Env, organizationId: number, runId: number): Promise<boolean> =>
  withCallObject(bindings, organizationId, runId, async (object) => {
    await object.begin(organizationId, runId);
    return object.wakeStalled();
  });
