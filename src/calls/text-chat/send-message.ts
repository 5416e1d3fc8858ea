import { randomUUID } from 'node:crypto';
import type { Context } from '../../context.ts';
import { withCallObject } from '../live-call/call-object.ts';
import { toIdempotentName } from '../records/idempotent-run.ts';
import type { ChatMessage, ChatState } from './contract.ts';
import { toChatError } from './chat-error.ts';

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
  order: SendMessageInput,
): Promise<ChatState> {
  const message = toChatMessage(order);
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
  order: SendMessageInput,
): Promise<Response> {
  const message = toChatMessage(order);
  const { refusal, stream } = await withCallObject(bindings, organization.id, runId, (object) =>
    object.streamMessage(organization.id, runId, message),
  );
  if (refusal) throw toChatError(refusal, agentId);
  return new Response(stream, { headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-cache' } });
}
