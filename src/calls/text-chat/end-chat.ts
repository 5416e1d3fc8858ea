import type { Context } from '../../context.ts';
import { withCallObject } from '../live-call/call-object.ts';
import { toChatError } from './chat-error.ts';

/** Ends a chat; the run is completed when this answers, unless the language model does not answer. Repeatable. Throws 404 and 409. */
export async function endChat({ bindings, organization }: Context, agentId: number, runId: number): Promise<void> {
  const { refusal } = await withCallObject(bindings, organization.id, runId, (object) => object.endChat(organization.id, runId));
  if (refusal && refusal.refused !== 'completed') throw toChatError(refusal, agentId);
}
