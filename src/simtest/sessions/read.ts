import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { existingSession } from './store.ts';
import { conversationRecord, sessionRecord } from './records.ts';
import type { ConversationRecord, TestSessionRecord } from '../schemas.ts';
import { sessionTranscriptKey, type SessionTranscript, callTestSessionObject } from './rpc.ts';

// The object of a running session is the truth. A session has no object before its start, after its end, and after a start that broke off, until the tick wakes it.

/** A session as it is now. Throws 404. */
export async function readSession(context: Context, id: number): Promise<z.infer<typeof TestSessionRecord>> {
  const row = await existingSession(context, id);
  if (row.status !== 'running') return sessionRecord(row);
  const live = await callTestSessionObject(context.bindings, context.organization.id, id, (object) => object.snapshot());
  // The object may have gone since the row was read.
  return live ? sessionRecord(row, live) : sessionRecord(await existingSession(context, id));
}

/** The transcript so far. Null: the session has not started, or ended without an utterance. Throws 404. */
export async function readConversation(context: Context, id: number): Promise<z.infer<typeof ConversationRecord> | null> {
  const row = await existingSession(context, id);
  if (row.status === 'pending') return null;
  const transcript = (row.status === 'running' ? await readLiveTranscript(context, id) : null) ?? (await readStoredTranscript(context, id));
  return transcript && conversationRecord(id, transcript, context.clock());
}

const readLiveTranscript = ({ bindings, organization }: Context, id: number): Promise<SessionTranscript | null> =>
  callTestSessionObject(bindings, organization.id, id, (object) => object.transcript());

async function readStoredTranscript({ bindings, organization }: Context, id: number): Promise<SessionTranscript | null> {
  const file = await bindings.FILES.get(sessionTranscriptKey(organization.id, id));
  return file && file.json<SessionTranscript>();
}
