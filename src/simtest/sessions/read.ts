import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { existingSession } from './store.ts';
import { conversationRecord, sessionRecord } from './records.ts';
import type { ConversationRecord, TestSessionRecord } from '../schemas.ts';
import { sessionTranscriptKey, type SessionTranscript, callTestSessionObject } from './rpc.ts';

// While a session runs it is what its object says. Before and afterwards there is none, and nor is there one whose start broke off, until it is poked.

export async function readSession(context: Context, id: number): Promise<z.infer<typeof TestSessionRecord>> {
  const row = await existingSession(context, id);
  if (row.status !== 'running') return sessionRecord(row);
  const live = await callTestSessionObject(context.bindings, context.organization.id, id, (object) => object.snapshot());
  // It may have gone since the row was read.
  return live ? sessionRecord(row, live) : sessionRecord(await existingSession(context, id));
}

/** What was said so far. Null: the session has not begun, or ended before a word was said. */
export async function readConversation(context: Context, id: number): Promise<z.infer<typeof ConversationRecord> | null> {
  const row = await existingSession(context, id);
  if (row.status === 'pending') return null;
  const talk = (row.status === 'running' ? await readLiveTranscript(context, id) : null) ?? (await readStoredTranscript(context, id));
  return talk && conversationRecord(id, talk, context.clock());
}

const readLiveTranscript = ({ bindings, organization }: Context, id: number): Promise<SessionTranscript | null> =>
  callTestSessionObject(bindings, organization.id, id, (object) => object.transcript());

async function readStoredTranscript({ bindings, organization }: Context, id: number): Promise<SessionTranscript | null> {
  const file = await bindings.FILES.get(sessionTranscriptKey(organization.id, id));
  return file && file.json<SessionTranscript>();
}
