import { randomUUID } from 'node:crypto';
import type { Context } from '../../accounts/context.ts';
import { callObject } from '../runs/call-object.ts';
import { repeatsName } from '../runs/request-name.ts';
import type { ChatMessage, ChatState } from './contract.ts';
import { refusedChat } from './refused-chat.ts';

export interface MessageOrder {
  text: string;
  /** Undefined: whatever was said meanwhile. */
  expectedRevision?: number | undefined;
  /** Under which the same is sent again when nothing was heard: it is said once in this chat. */
  idempotencyKey?: string | undefined;
}

function messageOf({ idempotencyKey, ...message }: MessageOrder): ChatMessage {
  const key = idempotencyKey === undefined ? randomUUID() : repeatsName({ of: 'message', input: message, idempotencyKey });
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
  order: MessageOrder,
): Promise<ChatState> {
  const message = messageOf(order);
  const { refusal, state } = await callObject(bindings, organization.id, runId, (object) => object.say(organization.id, runId, message));
  if (refusal) throw refusedChat(refusal, agentId);
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
  order: MessageOrder,
): Promise<Response> {
  const message = messageOf(order);
  const { refusal, stream } = await callObject(bindings, organization.id, runId, (object) =>
    object.sayAloud(organization.id, runId, message),
  );
  if (refusal) throw refusedChat(refusal, agentId);
  return new Response(stream, { headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-cache' } });
}
